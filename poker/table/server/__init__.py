"""The server behind the pages: who may look, uploads, how long a visitor's games are held, the app."""
