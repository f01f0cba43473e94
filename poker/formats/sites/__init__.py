"""Hand histories of poker sites."""
