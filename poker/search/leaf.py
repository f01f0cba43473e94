"""Values at the depth limit: the protocol between the solver and whatever predicts the rest of the hand.

A leaf is the public state where a betting round is over and the next card is not dealt. There the chooser picks one of
K continuations for the rest of the hand and the searcher (`own`) keeps to the blueprint ([DLS] section 4), so a leaf
holds, for every pair of hands, K values.
"""

from collections.abc import Sequence
from typing import Protocol

from poker.search.beliefs import Ranges
from poker.solvers.leaf_values import LeafValues
from poker.state import Betting


class LeafEvaluator(Protocol):
    """Predicts the rest of the hand. It must not depend on anything but its arguments and its own seed."""

    @property
    def num_continuations(self) -> int:
        """K, from which the chooser picks."""

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        """Net chips of `own` over the whole hand at each of `leaves` [L, K, C_own, C_opp], hands in clusters."""


class SingleValue:
    """The naive form: one value per leaf, as if both players followed the blueprint from there ([DLS] section 6)."""

    num_continuations = 1

    def __init__(self, of: LeafEvaluator) -> None:
        self._of = of

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        """The first continuation of `of`, which is the unbiased blueprint."""
        return self._of.values(leaves, board, ranges, own).first_continuation()
