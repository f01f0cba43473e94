"""Cards and hands: ranks, suit isomorphism, exact strength, equities, and the distances of k-means over hands."""
