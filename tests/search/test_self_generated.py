"""Self-generated continuations of bucketed blueprints: the solved first round, and the remedies."""

from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.buckets import CardAbstraction, make_abstraction
from poker.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS
from poker.errors import PokernetsError
from poker.search.self_generated import above, remedied, solve_first_round
from poker.solvers.blueprint import Blueprint
from poker.solvers.continuations.generation import Remedies, Solving
from poker.solvers.rollout.leaf_table import LeafTable, preflop_leaves
from poker.state import Betting
from poker.tree import Kind, bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.games import load_rules

MENU = bet_menu(preflop=[[1], ["a"]], flop=[["a"], []])


@lru_cache
def blueprint() -> Blueprint:
    """Random strategies of flop hold'em with two buckets on the flop."""
    rng = np.random.default_rng(0)
    flops = rng.integers(0, 2, (1755, NUM_HANDS)).astype(np.uint8)
    cards: CardAbstraction = make_abstraction((PREFLOP_CLASS[None], flops), (169, 2))
    tree = build_tree(Betting.start(load_rules("flop_holdem_nolimit")), MENU)
    return random_blueprint(tree, cards)


def random_values(count: int) -> NDArray[np.float32]:
    """[2, K, 169, 169]"""
    return np.random.default_rng(1).normal(size=(2, count, 169, 169)).astype(np.float32)


def test_the_searcher_plays_the_solved_first_round_above_the_blueprint() -> None:
    policy = blueprint()
    nodes = preflop_leaves(policy.tree)
    values = np.stack([random_values(2)] * len(nodes))
    solver = solve_first_round(policy, LeafTable(nodes, values, values), MENU, 1, Solving(iterations=20))
    found = above(policy, solver, 0)
    tree = policy.tree
    for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
        expected = policy.probs(node)
        if tree.street[node] == 0 and tree.player[node] == 0:
            hands = solver.strategy(solver.game.tree.find(tree.path(node)))
            expected = np.array([hands[c == PREFLOP_CLASS].mean(axis=0) for c in range(169)])
        np.testing.assert_allclose(found.probs(node), expected, atol=0.005)
    table, other = LeafTable(nodes, values, values), bet_menu(preflop=["a"])
    with pytest.raises(PokernetsError, match="menu"):
        above(policy, solve_first_round(policy, table, other, 1, Solving(iterations=1)), 0)


@pytest.mark.parametrize("own", [0, 1])
def test_weakened_responses_gain_nothing_against_the_blueprint(own: int) -> None:
    policy, values = blueprint(), random_values(3)
    node = int(preflop_leaves(policy.tree)[-1])
    weak = remedied(policy, node, values, values[:, 0], Remedies(weaken=True))
    np.testing.assert_array_equal(weak[:, 0], values[:, 0])
    reach, at = np.ones(NUM_HANDS), node
    while policy.tree.parent[at] >= 0:
        parent = int(policy.tree.parent[at])
        if policy.tree.player[parent] == own:
            reach *= policy.probs(parent, ())[:, at - int(policy.tree.first_child[parent])]
        at = parent
    pairs = HOLDEM.disjoint * reach
    for found, positive in ((values, True), (weak, False)):
        lost = (found[own, 1] - found[own, 0]) if own == 0 else (found[own, 1] - found[own, 0]).T
        gains = -(pairs * lost.T[PREFLOP_CLASS][:, PREFLOP_CLASS]).sum(axis=1) / pairs.sum(axis=1)
        assert (gains.max() > 0.1) == positive
        assert positive or gains.max() < 1e-5


def test_a_part_of_the_pot_is_taken_off() -> None:
    policy, values = blueprint(), random_values(2)
    found = remedied(policy, int(preflop_leaves(policy.tree)[0]), values, values[:, 0], Remedies(pot_fraction=0.1))
    np.testing.assert_allclose(found - values, 0.1, atol=1e-6)
