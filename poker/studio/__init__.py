"""Programs for people and other software: the table, the explorer, hand reviews, drills, and an HTTP and MCP interface.

Start with `pages/launch.py`, which starts the server, and `games/table_game.py`, which plays a visitor's hand. It needs
the extra `play` (NiceGUI). Nothing in the engine imports it, and it has no poker logic of its own.
"""
