"""A stand-in for a net over ranges, with values that are known."""

from dataclasses import dataclass

import numpy as np

from poker.depth_limit.leaves.range_net import States
from poker.depth_limit.range_inputs import equities_against


@dataclass(frozen=True)
class Equities:
    """Values as if nobody bet any more, and `first` pots more to the player who acts first."""

    level: str
    first: float = 0.0

    def values(self, states: States) -> list[np.ndarray]:
        edge = np.array([self.first, -self.first])[:, None]
        return [
            (equities_against(board, ranges[:, ::-1]) - 0.5 + edge).astype(np.float32) for board, ranges, _ in states
        ]
