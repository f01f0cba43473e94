"""Ends of rounds outside a blueprint's tree: which of its nodes stand for them."""

import numpy as np
import pytest

from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.depth_limit.leaves.off_tree import OffTreeStates, any_raise
from poker.game.betting import Betting
from poker.game.rules import CALL
from poker.tree import BettingTree, Kind, bet_menu, build_tree
from tests.games import HEADS_UP as RULES


@pytest.fixture(scope="module")
def tree() -> BettingTree:
    menu = bet_menu(preflop=[[1.0], [1.0]], flop=[[1.0], []], turn=[["a"], []], river=[["a"], []])
    return build_tree(Betting.start(RULES), menu)


def test_two_nodes_share_a_pot_between_theirs(tree: BettingTree) -> None:
    states = BlueprintStates(tree)
    pots = {node: tree.pot(node) for node in np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == 0)).tolist()}
    between = Betting.start(RULES).apply(400).apply(CALL)  # a pot of 800; the tree has 600 and 1,800
    shares = dict(states.shares(between, 0))
    assert sorted(pots[node] for node in shares) == [600, 1800]
    assert sum(shares.values()) == pytest.approx(1)
    assert {pots[node]: share for node, share in shares.items()}[600] > 0.5
    in_tree = Betting.start(RULES).apply(300).apply(CALL)
    assert [(pots[node], share) for node, share in states.shares(in_tree, 0)] == [(600, 1.0)]
    beyond = Betting.start(RULES).apply(19_000).apply(CALL)
    assert [(pots[node], share) for node, share in states.shares(beyond, 0)] == [(16_200, 1.0)]


@pytest.mark.parametrize("street", [0, 1])
def test_states_are_ends_of_the_round_that_their_node_is_near(tree: BettingTree, street: int) -> None:
    off_tree, states, rng = OffTreeStates(tree, street), BlueprintStates(tree), np.random.default_rng(1)
    seen = set()
    for node in np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == street)).tolist():
        state = off_tree.near(node, rng)
        if state is not None:
            assert (state.street, state.actions[-1], state.is_over) == (street + 1, (), False)
            assert node in dict(states.shares(state, street))
            seen.add(state.pot)
    assert len(seen) > 2


def test_raises_are_legal_and_of_every_size() -> None:
    legal, rng = Betting.start(RULES).legal(), np.random.default_rng(0)
    totals = [any_raise(legal, rng) for _ in range(500)]
    assert legal.min_raise <= min(totals) < 250
    assert 10_000 < max(totals) <= legal.max_raise
