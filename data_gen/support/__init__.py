"""Parts that jobs share: progress, what a run will cost, hands to learn from, values."""
