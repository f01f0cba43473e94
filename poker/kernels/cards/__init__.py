"""Kernels for cards and hands: ranks, suit isomorphism, exact strength, equities, and distances for k-means."""
