"""The pages in the browser, which know no poker of their own. NiceGUI (the extra `play`) is imported by the pages and
`server.app` alone, once the server starts."""
