"""Hand histories of poker sites, read and written; `lines.py` has what their texts share."""
