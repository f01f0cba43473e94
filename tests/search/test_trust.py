"""What share of an opponent's actions is the model's: found again where it is known."""

from dataclasses import replace

import numpy as np
import pytest

from poker.search.trust import Explained, Trust

HANDS = 6


def explained(rng: np.random.Generator, share: float, hand: int) -> Explained:
    """An action of a player with `hand` of whose actions `share` are drawn by the model."""
    model, solution = (rng.dirichlet(np.full(3, 0.4), HANDS) for _ in range(2))
    action = rng.choice(3, p=(model if rng.random() < share else solution)[hand])
    return Explained(model[:, action], solution[:, action], np.full(HANDS, 1 / HANDS))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.4, 0.6, 1.0])
def test_the_share_is_found_again(share: float) -> None:
    rng, trust = np.random.default_rng(5), Trust()
    for number in range(1000):
        trust = trust.after([explained(rng, share, number % HANDS)], number % HANDS)
    assert trust.share == pytest.approx(share, abs=0.08)
    assert trust.earned == pytest.approx(1.5 * share - 0.5 if share > 0.5 else 0.0, abs=0.12)
    assert (trust.earned == 0.0) == (share < 0.5)


def test_nothing_seen_earns_no_trust() -> None:
    assert Trust().share == pytest.approx(1 / 3)
    assert Trust().earned == 0.0


def test_a_hand_that_was_not_shown_counts_as_its_range() -> None:
    weights = np.array([0.5, 0.3, 0.2, 0, 0, 0])
    model, solution = np.array([0.9, 0.1, 0.4, 1, 1, 1]), np.array([0.2, 0.3, 0.1, 0, 0, 0])
    action = Explained(model, solution, weights)
    assert action.chances(1) == (0.1, 0.3)
    assert action.chances(None) == pytest.approx((0.56, 0.21))
    assert Trust().after([action], 1).share < 1 / 3 < Trust().after([replace(action, fold=True)], None).share


def test_what_was_done_with_hands_that_were_not_shown_earns_no_trust_and_can_cost_it() -> None:
    range_ = np.full(HANDS, 1 / HANDS)
    often, seldom = np.full(HANDS, 0.8), np.full(HANDS, 0.2)
    borne_out, at_odds = Explained(often, seldom, range_), Explained(seldom, often, range_)
    assert Trust().after([borne_out] * 20, None).earned == 0.0
    assert Trust().after([borne_out] * 20, 3).earned > 0.5
    assert Trust().after([replace(borne_out, fold=True)] * 20, None).earned > 0.5
    assert Trust().after([borne_out] * 20, 3).after([at_odds] * 40, None).earned == 0.0


def test_an_action_that_neither_explains_says_nothing() -> None:
    never = Explained(np.zeros(HANDS), np.zeros(HANDS), np.full(HANDS, 1 / HANDS))
    assert Trust().after([never] * 50, 2).share == pytest.approx(1 / 3)
