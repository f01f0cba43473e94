"""Players of other programs at our tables."""
