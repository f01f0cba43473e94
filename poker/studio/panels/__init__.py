"""Parts of pages: the review of a hand, drills, the price of a call."""
