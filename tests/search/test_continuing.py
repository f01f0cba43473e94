"""Mixtures of continuations that are nearest to a model, and how often continuations fold, call and raise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poker.betting import Betting
from poker.cards import HOLDEM
from poker.search.continuing import Continuing, nearest_mixture, usual
from poker.search.exploiting import Exploit, FixedFrequencies
from poker.solvers.blueprint import blueprint_from
from poker.solvers.rollout.forms import Biased
from poker.tree import bet_menu, build_tree
from tests.bench.continuation_frequencies import measured
from tests.games import load_rules

RULES = load_rules("flop_holdem_nolimit")


class OneBucket:
    num_buckets = (1, 1)
    fingerprint = "one bucket"

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        return np.where(HOLDEM.live(board), np.int32(0), np.int32(-1))


def test_the_nearest_mixture_is_found_exactly() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((4, 6))
    for shares in ([0, 1, 0, 0], [0.3, 0, 0.7, 0], [0.1, 0.2, 0.3, 0.4]):
        np.testing.assert_allclose(nearest_mixture(points, np.array(shares) @ points), shares, atol=1e-8)
    beyond = nearest_mixture(points, points[0] + 2 * (points[0] - points[1]))
    assert beyond[1] == 0
    near = [np.square(s @ points - 0.5).sum() for s in rng.dirichlet(np.ones(4), 2000)]
    assert np.square(nearest_mixture(points, np.full(6, 0.5)) @ points - 0.5).sum() <= min(near)


def test_what_continuations_do_is_measured_and_recognised() -> None:
    """Uniform play where a bet is all-in, by one bucket: what happens does not depend on the cards."""
    tree = build_tree(Betting.start(RULES), bet_menu(preflop=[[], []], flop=[["a"], []]))
    blueprint = blueprint_from(
        tree, OneBucket(), lambda node: np.full((1, int(tree.num_children[node])), 1 / tree.num_children[node])
    )
    found = measured(blueprint, Biased(10.0).of(blueprint), 200, 1)
    unasked, asked = found.frequencies[:, 1, 0], found.frequencies[:, 1, 1]
    more, less = 10 / 11, 1 / 11
    np.testing.assert_allclose(unasked, [[0, 0.5, 0.5], [0, 0.5, 0.5], [0, more, less], [0, less, more]], atol=0.01)
    np.testing.assert_allclose(asked, [[0.5, 0.5, 0], [more, less, 0], [less, more, 0], [0.5, 0.5, 0]], atol=0.01)
    for number, (folds, raises) in enumerate([(0.5, 0.5), (more, 0.5), (less, less), (0.5, more)]):
        model = FixedFrequencies(folds, raises)
        later = model.later(RULES, 0)[0].copy()
        later[:, 1] = [[folds, 1 - folds, 0]]
        np.testing.assert_allclose(found.shares(later, 0), np.eye(4)[number], atol=0.02)


def test_players_take_the_continuation_that_is_like_them() -> None:
    rules, continuing = load_rules("holdem_nolimit_2p"), Continuing()
    giving_up, folder = Continuing(usual(gives_up=True)), FixedFrequencies(1.0, 0.0)
    np.testing.assert_allclose(giving_up.shares(folder.later(rules, 0)[0], 0), [0, 0, 0, 0, 1], atol=1e-8)
    np.testing.assert_allclose(usual()[:, 1:].sum(axis=-1), 1)
    for street in (0, 1):
        caller, maniac = (
            Exploit(0.5, model, continuations=continuing).chosen(rules, street, 4)
            for model in (FixedFrequencies(0.0, 0.0), FixedFrequencies(0.1, 0.8))
        )
        assert caller[2] > 0.9
        assert maniac[3] > 0.9
    doubted = Exploit(0.5, FixedFrequencies(0.0, 0.0, confidence=0.3), continuations=continuing)
    np.testing.assert_allclose(doubted.chosen(rules, 1, 4).sum(), 0.3)
