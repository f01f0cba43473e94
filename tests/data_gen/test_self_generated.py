"""Self-generated continuations of bucketed blueprints: the solved first round."""

from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from data_gen.support.self_generated import above, solve_first_round
from poker.abstraction.buckets import CardAbstraction, make_abstraction
from poker.depth_limit.continuations.generation import Solving
from poker.depth_limit.leaves.leaf_table import LeafTable, preflop_leaves
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint
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
    searcher = above(policy, solver, 0)
    tree = policy.tree
    for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
        expected = policy.probs(node)
        if tree.street[node] == 0 and tree.player[node] == 0:
            hands = solver.strategy(solver.game.tree.find(tree.path(node)))
            expected = np.array([hands[c == PREFLOP_CLASS].mean(axis=0) for c in range(169)])
        np.testing.assert_allclose(searcher.probs(node), expected, atol=0.005)
    table, other = LeafTable(nodes, values, values), bet_menu(preflop=["a"])
    with pytest.raises(PokernetsError, match="menu"):
        above(policy, solve_first_round(policy, table, other, 1, Solving(iterations=1)), 0)
