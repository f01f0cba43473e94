"""Pages in the browser: the table, hands, the database. NiceGUI is imported once the server starts."""
