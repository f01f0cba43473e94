"""The server behind the pages: who may look, the visitors' games, the app."""
