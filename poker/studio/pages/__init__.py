"""Pages in the browser: the table, hands, the database. NiceGUI is imported only when the server starts."""
