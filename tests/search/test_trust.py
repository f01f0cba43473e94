"""What share of an opponent's actions is the model's: found again where it is known."""

import numpy as np
import pytest

from poker.search.trust import Explained, Trust

HANDS = 6


def explained(rng: np.random.Generator, share: float, hand: int) -> Explained:
    """An action of a player with `hand` of whose actions `share` are drawn by the model."""
    model, solution = (rng.dirichlet(np.full(3, 0.4), HANDS) for _ in range(2))
    action = rng.choice(3, p=(model if rng.random() < share else solution)[hand])
    return Explained(1, model[:, action], solution[:, action], np.full(HANDS, 1 / HANDS))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.6, 1.0])
def test_the_share_is_found_again(share: float) -> None:
    rng, trust = np.random.default_rng(5), Trust.start(4)
    for number in range(1000):
        trust = trust.after([explained(rng, share, number % HANDS)], number % HANDS)
    assert trust.shares()[1] == pytest.approx(share, abs=0.08)
    assert trust.shares()[0] == trust.shares()[3] == 0.5  # nothing was seen there


def test_a_hand_that_was_not_shown_counts_as_its_range() -> None:
    weights = np.array([0.5, 0.3, 0.2, 0, 0, 0])
    model, solution = np.array([0.9, 0.1, 0.4, 1, 1, 1]), np.array([0.2, 0.3, 0.1, 0, 0, 0])
    action = Explained(2, model, solution, weights)
    assert action.chances(1) == (0.1, 0.3)
    assert action.chances(None) == pytest.approx((0.56, 0.21))
    shown, hidden = (Trust.start(4).after([action], hand).shares()[2] for hand in (1, None))
    assert shown < 0.5 < hidden


def test_an_action_that_neither_explains_says_nothing() -> None:
    never = Explained(0, np.zeros(HANDS), np.zeros(HANDS), np.full(HANDS, 1 / HANDS))
    assert Trust.start(4).after([never] * 50, 2).shares()[0] == pytest.approx(0.5)
