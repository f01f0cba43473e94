"""Post-flop spots solved exactly."""

from poker.spots.solved import SolvedSpot, solve

__all__ = ["SolvedSpot", "solve"]
