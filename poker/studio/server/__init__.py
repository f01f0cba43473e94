"""The server behind the pages: who may look, uploads, the visitors' games, the app."""
