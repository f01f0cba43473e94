"""Sampled traversals and episodes of a betting tree, and the deals they are played on."""
