"""Parts of pages: the review of a hand, drills, and pot odds."""
