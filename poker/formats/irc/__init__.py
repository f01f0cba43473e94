"""The IRC archive of limit hold'em: its files, and its hands replayed."""
