"""Sampled traversals and episodes of a betting tree, and the deals that they use."""
