"""Parts that jobs share: how shards are written and resumed, what a run will cost, hands to learn from, values."""
