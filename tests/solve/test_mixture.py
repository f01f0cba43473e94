"""Mixtures of continuations nearest to a model, and the share of an opponent's actions that is the model's."""

from dataclasses import replace

import numpy as np
import pytest

from poker.run.errors import PokernetsError
from poker.search.trust import Trust
from poker.solve.mixture import ContinuationMixture, nearest_mixture, usual
from poker.solve.modelled import Explained, Exploit
from tests.games import load_rules
from tests.opponents.fixed import FixedFrequencies

RULES = load_rules("flop_holdem_nolimit")


def test_nearest_mixture_is_exact() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((4, 6))
    for shares in ([0, 1, 0, 0], [0.3, 0, 0.7, 0], [0.1, 0.2, 0.3, 0.4]):
        np.testing.assert_allclose(nearest_mixture(points, np.array(shares) @ points), shares, atol=1e-8)
    beyond = nearest_mixture(points, points[0] + 2 * (points[0] - points[1]))
    assert beyond[1] == 0
    near = [np.square(s @ points - 0.5).sum() for s in rng.dirichlet(np.ones(4), 2000)]
    assert np.square(nearest_mixture(points, np.full(6, 0.5)) @ points - 0.5).sum() <= min(near)


def test_a_player_of_one_continuation_is_recognised() -> None:
    """Uniform play where a bet is all-in, and its forms that fold, call and raise ten times as often."""
    more, less = 10 / 11, 1 / 11
    no_bet = [[0, 0.5, 0.5], [0, 0.5, 0.5], [0, more, less], [0, less, more]]
    facing_bet = [[0.5, 0.5, 0], [more, less, 0], [less, more, 0], [0.5, 0.5, 0]]
    mixture = ContinuationMixture(np.stack([np.zeros((4, 2, 3)), np.stack([no_bet, facing_bet], axis=1)], axis=1))
    for number, (folds, raises) in enumerate([(0.5, 0.5), (more, 0.5), (less, less), (0.5, more)]):
        later = FixedFrequencies(folds, raises).later(RULES, 0)[0].copy()
        later[:, 1] = [[folds, 1 - folds, 0]]
        np.testing.assert_allclose(mixture.shares(later, 0), np.eye(4)[number], atol=1e-8)


def test_players_take_the_continuation_that_is_like_them() -> None:
    rules, mixture = load_rules("holdem_nolimit_2p"), ContinuationMixture()
    giving_up, folder = ContinuationMixture(usual(gives_up=True)), FixedFrequencies(1.0, 0.0)
    np.testing.assert_allclose(giving_up.shares(folder.later(rules, 0)[0], 0), [0, 0, 0, 0, 1], atol=1e-8)
    np.testing.assert_allclose(usual()[:, 1:].sum(axis=-1), 1)
    for street in (0, 1):
        caller, maniac = (
            Exploit(0.5, model, continuations=mixture).chosen(rules, street, 4)
            for model in (FixedFrequencies(0.0, 0.0), FixedFrequencies(0.1, 0.8))
        )
        assert caller[2] > 0.9
        assert maniac[3] > 0.9
    doubted = Exploit(0.5, FixedFrequencies(0.0, 0.0, confidence=0.3), continuations=mixture)
    np.testing.assert_allclose(doubted.chosen(rules, 1, 4).sum(), 0.3)


HANDS = 6


def explained(rng: np.random.Generator, share: float, hand: int) -> Explained:
    """An action of a player with `hand` who follows the model with probability `share`."""
    model, solution = (rng.dirichlet(np.full(3, 0.4), HANDS) for _ in range(2))
    action = rng.choice(3, p=(model if rng.random() < share else solution)[hand])
    return Explained(model[:, action], solution[:, action], np.full(HANDS, 1 / HANDS))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.4, 0.6, 1.0])
def test_share_is_recovered(share: float) -> None:
    rng, trust = np.random.default_rng(5), Trust()
    for number in range(1000):
        trust = trust.after([explained(rng, share, number % HANDS)], number % HANDS)
    assert trust.share == pytest.approx(share, abs=0.08)
    assert trust.earned == pytest.approx(1.5 * share - 0.5 if share > 0.5 else 0.0, abs=0.12)
    assert (trust.earned == 0.0) == (share < 0.5)


def test_folded_hands_earn_no_trust() -> None:
    assert Trust().share == pytest.approx(1 / 3)
    assert Trust().earned == 0.0


def test_hidden_hand_counts_as_its_range() -> None:
    weights = np.array([0.5, 0.3, 0.2, 0, 0, 0])
    model, solution = np.array([0.9, 0.1, 0.4, 1, 1, 1]), np.array([0.2, 0.3, 0.1, 0, 0, 0])
    action = Explained(model, solution, weights)
    assert action.chances(1) == (0.1, 0.3)
    assert action.chances(None) == pytest.approx((0.56, 0.21))
    assert Trust().after([action], 1).share < 1 / 3 < Trust().after([replace(action, fold=True)], None).share


def test_hidden_hands_earn_no_trust_and_can_cost_it() -> None:
    range_ = np.full(HANDS, 1 / HANDS)
    often, seldom = np.full(HANDS, 0.8), np.full(HANDS, 0.2)
    borne_out, at_odds = Explained(often, seldom, range_), Explained(seldom, often, range_)
    assert Trust().after([borne_out] * 20, None).earned == 0.0
    assert Trust().after([borne_out] * 20, 3).earned > 0.5
    assert Trust().after([replace(borne_out, fold=True)] * 20, None).earned > 0.5
    assert Trust().after([borne_out] * 20, 3).after([at_odds] * 40, None).earned == 0.0


def test_action_that_neither_model_explains_changes_nothing() -> None:
    never = Explained(np.zeros(HANDS), np.zeros(HANDS), np.full(HANDS, 1 / HANDS))
    assert Trust().after([never] * 50, 2).share == pytest.approx(1 / 3)


def test_a_player_of_an_unsound_population_is_trusted_to_be_one_until_the_hands_speak_against_it() -> None:
    rng, trust = np.random.default_rng(6), Trust(unsound=0.9)
    assert trust.share == pytest.approx(0.9 * 2 / 3 + 0.1 / 3, abs=1e-6)
    assert 0.3 < trust.earned < 0.6
    for number in range(100):
        trust = trust.after([explained(rng, 0.1, number % HANDS)], number % HANDS)
    assert trust.earned == 0.0
    with pytest.raises(PokernetsError, match="must be at least 0 and below 1"):
        Trust(unsound=1.0)
