"""A model of an opponent whose frequencies are given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.kernels.types import Board, Reals


@dataclass(frozen=True)
class FixedFrequencies:
    """A model that plays all hands alike: folds to a bet, else raises, all sizes alike, else checks or calls."""

    folds: float
    raises: float
    confidence: float = 1.0

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        stays = 1 - self.folds if FOLD in actions else 1.0
        sizes = np.array(actions) > 0
        row = np.where(sizes, stays * self.raises / max(1, sizes.sum()), 0.0)
        row[actions.index(CALL)] = stays - row.sum()
        if FOLD in actions:
            row[actions.index(FOLD)] = self.folds
        return np.broadcast_to(row, (*np.shape(weights), len(actions))), self.confidence

    def later(self, rules: Rules, street: int) -> tuple[Reals, float]:
        stays = 1 - self.folds
        facing_bet = self.folds, stays * (1 - self.raises), stays * self.raises
        rows = np.array([(0.0, 1 - self.raises, self.raises), facing_bet])
        return np.tile(rows, (rules.num_streets - street - 1, 1, 1)), self.confidence

    def after(self, hand: HandState, player: int) -> "FixedFrequencies":
        return self
