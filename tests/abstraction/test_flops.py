"""Few flops stand for all: weights add up, each division has its share, and means are near those over all."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.flops import NUM_FLOPS, representative_flops
from poker.game.cards import PREFLOP_CLASS
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.cards.strength import boards_strength
from poker.run.errors import PokernetsError

DEALS = board_multiplicities(3)


@pytest.mark.parametrize("count", [6, 25, 184, NUM_FLOPS])
def test_weights_are_deals_and_divisions_have_their_own(count: int) -> None:
    numbers, weights = representative_flops(count)
    assert len(set(numbers.tolist())) == count
    assert weights.sum() == 22_100
    boards = canonical_boards(3)[numbers]
    suits = np.array([len(set(row)) for row in (boards % 4).tolist()])
    ranks = np.array([len(set(row)) for row in (boards // 4).tolist()])
    pairs = set(zip(suits.tolist(), ranks.tolist(), strict=True))
    counts = {(s, r): int(weights[(suits == s) & (ranks == r)].sum()) for s, r in pairs}
    choices = 13 * 12 * 11 // 6
    assert counts == {
        (1, 3): 4 * choices,
        (2, 3): 36 * choices,
        (3, 3): 24 * choices,
        (2, 2): 13 * 12 * 12,
        (3, 2): 13 * 12 * 12,
        (3, 1): 52,
    }
    if count == NUM_FLOPS:
        assert (weights == DEALS).all()


def test_means_are_nearer_than_samples() -> None:
    """The strength of every hand now, which no feature is."""
    strength = np.maximum(boards_strength(canonical_boards(3)), 0) / 1980
    mean, rng = DEALS @ strength / 22_100, np.random.default_rng(1)

    def error(numbers: NDArray[np.int64], weights: NDArray[Any]) -> float:
        of_class = np.bincount(PREFLOP_CLASS, weights @ strength[numbers] / weights.sum() - mean, 169)
        return float(np.abs(of_class).mean())

    for count in (25, 184):
        drawn = [rng.choice(NUM_FLOPS, count, p=DEALS / 22_100) for _ in range(30)]
        usual = np.median([error(numbers, np.ones(count)) for numbers in drawn])
        assert error(*representative_flops(count)) < 0.6 * usual


def test_too_few_and_too_many_are_refused() -> None:
    for count in (5, 1756):
        with pytest.raises(PokernetsError, match=f"between 6 and 1,755, not {count}"):
            representative_flops(count)
