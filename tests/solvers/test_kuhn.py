"""The equilibria of Kuhn poker, and the nearest of them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.game.rules import Rules
from poker.game.state import Betting
from poker.solvers.best_response.ranges import evaluate_policy
from poker.solvers.kuhn import DECISIONS, equilibrium, is_kuhn, mean_squared_error, nearest_equilibrium
from poker.tree import BettingTree, build_tree
from tests.games import load_rules


@pytest.fixture(scope="module")
def tree() -> BettingTree:
    return build_tree(Betting.start(load_rules("kuhn")))


def rows(tree: BettingTree, bets: NDArray[np.float64], node: int) -> NDArray[np.float32]:
    """[3, 2] strategy at a node from the probabilities of betting or calling [4, 3]."""
    mine = bets[[tree.find(actions) for actions in DECISIONS].index(node)]
    return np.stack([1 - mine, mine], axis=1).astype(np.float32)


@pytest.mark.parametrize("a", [0, 0.1, 1 / 3])
def test_the_family_is_in_equilibrium(tree: BettingTree, a: float) -> None:
    profile = evaluate_policy(tree, lambda node, board: rows(tree, equilibrium(a), node))
    assert profile.nash_conv == pytest.approx(0, abs=1e-6)
    assert profile.value == pytest.approx(-1 / 18, abs=1e-6)


def test_beyond_the_family_is_none(tree: BettingTree) -> None:
    beyond = np.clip(equilibrium(0.4), 0, 1)
    assert evaluate_policy(tree, lambda node, board: rows(tree, beyond, node)).nash_conv > 0.01


def test_nearest_beats_every_other() -> None:
    rng = np.random.default_rng(0)
    family = np.stack([equilibrium(a) for a in np.linspace(0, 1 / 3, 2001)])
    for bets in [*rng.random((20, 4, 3)), np.zeros((4, 3)), np.ones((4, 3))]:
        least = np.square(family - bets).sum(axis=(1, 2)).min()
        distance = np.square(nearest_equilibrium(bets) - bets).sum()
        assert least - 1e-6 < distance <= least + 1e-12


def test_mean_squared_error(tree: BettingTree) -> None:
    """The uniform strategy, by hand: a = (1/2 + 3/2 + 1/6) / 11, the sum of squares over 12 infosets 1.906566."""
    uniform = mean_squared_error(tree, lambda node: np.full((3, 2), 0.5, np.float32))
    assert uniform == pytest.approx(1.906566 / 12, abs=1e-6)
    exact = mean_squared_error(tree, lambda node: rows(tree, equilibrium(0.2), node))
    assert exact == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("name", "kuhn"), [("kuhn", True), ("leduc", False)])
def test_kuhn_is_recognised_by_its_rules(name: str, kuhn: bool) -> None:
    rules: Rules = load_rules(name)
    assert is_kuhn(rules) is kuhn
