"""Exact solutions of post-flop spots."""

from poker.spots.solved import SolvedSpot, solve

__all__ = ["SolvedSpot", "solve"]
