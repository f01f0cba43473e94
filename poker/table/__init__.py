"""The page in the browser, a client of the rest of the program: it shows and asks, and knows no poker of its own.

NiceGUI (the extra `play`) is imported by `poker.table.server.app` and the pages alone, and these only once the server
starts.
"""
