"""The server behind the pages: access control, the visitors' games, and the web application."""
