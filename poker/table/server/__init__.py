"""The server of the pages: access to them, visitors and their games, uploads."""
