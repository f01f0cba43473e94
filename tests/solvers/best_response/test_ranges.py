"""Exact values of given policies: published constants, OpenSpiel, refusals."""

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import dealer_of
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import evaluate_policy
from poker.solvers.exact import ExactSolver
from poker.tree import BettingTree, build_tree
from tests.solvers.games import ORACLES, kuhn, leduc
from tests.solvers.reference import Reference


def tree_of(rules: Rules) -> BettingTree:
    return build_tree(Betting.start(rules))


@pytest.mark.parametrize("rules", [kuhn(), leduc()], ids=["kuhn", "leduc"])
def test_uniform_policy(rules: Rules) -> None:
    tree = tree_of(rules)
    value = evaluate_policy(
        tree,
        lambda node, _: np.full((rules.num_hands, tree.num_children[node]), 1 / tree.num_children[node], np.float32),
    )
    assert value.nash_conv == pytest.approx(ORACLES[rules.name]["uniform_nash_conv"], abs=2e-7)
    assert value.exploitability == value.nash_conv / 2


def test_suit_dependent_policy_of_leduc() -> None:
    """A policy that plays the suits of a rank differently has the values that plain Python gives it."""
    rules, rng = leduc(), np.random.default_rng(5)
    tree = tree_of(rules)
    table: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}

    def policy(node: int, board: tuple[int, ...]) -> np.ndarray:
        if (node, board) not in table:
            table[node, board] = rng.dirichlet(np.ones(tree.num_children[node]), rules.num_hands).astype(np.float32)
        return table[node, board]

    value = evaluate_policy(tree, policy)
    reference = Reference(tree, (), np.ones((2, 6)))
    profile = {key: probabilities.astype(np.float64) for key, probabilities in table.items()}
    assert value.nash_conv == pytest.approx(reference.nash_conv(profile), abs=1e-5)
    assert value.value == pytest.approx(reference.root_value(0, profile, best=False), abs=1e-5)


@pytest.mark.parametrize("rules", [kuhn(), leduc()], ids=["kuhn", "leduc"])
def test_openspiel_and_the_vector_engine_agree(rules: Rules) -> None:
    openspiel = pytest.importorskip("tests.solvers.openspiel")
    cards = SmallGameBuckets(rules)
    exact = ExactSolver(tree_of(rules), cards, dealer_of(rules, cards), algorithm="cfr_plus")
    exact.run(iterations=100)
    value = evaluate_policy(exact.tree, lambda node, board: exact.average(node)[cards.buckets(board)])
    assert (value.nash_conv, value.value) == pytest.approx(openspiel.measured(rules, exact.average), abs=1e-6)
    metrics = exact.metrics()
    assert (value.nash_conv, value.value) == pytest.approx((metrics["nash_conv"], metrics["game_value"]), abs=1e-6)


def test_invalid_policies_are_refused() -> None:
    tree = tree_of(kuhn())
    with pytest.raises(PokernetsError, match="no probabilities that add to 1"):
        evaluate_policy(tree, lambda node, _: np.ones((3, tree.num_children[node]), np.float32))
