"""The wing for people at a screen: the table, the explorer, hands and drills, and questions over HTTP and MCP.

Start with `pages/launch.py`, which starts the server, and `games/table_game.py`, which plays a visitor's hand. It needs
the extra `play` (NiceGUI). Nothing in the engine imports it, and it has no poker logic of its own.
"""
