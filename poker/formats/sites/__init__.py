"""Hand histories of poker sites, read and written; `lines.py` has the parts that all their readers share."""
