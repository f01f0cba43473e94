"""Histories with real sizes are read in the tree, alike every time, and the tree's actions are legal in the hand."""

from dataclasses import replace

import numpy as np
import pytest

from poker.rules import CALL, FOLD
from poker.state import Betting
from poker.tree import BettingTree, Kind, bet_menu, build_tree
from poker.tree.history import HistoryTranslator
from tests.games import load_menu, load_rules
from tests.random_play import nolimit


@pytest.fixture(scope="module")
def tree() -> BettingTree:
    return build_tree(Betting.start(load_rules("holdem_nolimit_2p")), load_menu("demo"))


def test_histories_of_the_tree_are_read_exactly(tree: BettingTree) -> None:
    translator = HistoryTranslator(tree, seed=1)
    rng = np.random.default_rng(0)
    decisions = np.flatnonzero(tree.kind == Kind.DECISION)
    for node in rng.choice(decisions, 200):
        state = Betting.start(tree.rules)
        for action in tree.path(int(node)):
            state = state.apply(action)
        assert translator.node(state) == node
        assert translator.real_actions(int(node), state) == tree.actions(int(node))


def test_bet_between_two_sizes_follows_the_pseudo_harmonic_mapping(tree: BettingTree) -> None:
    state = Betting.start(tree.rules)
    root = tree.find(())
    small, large = [action for action in tree.actions(root) if action > 0][:2]
    middle = (small + large) // 2
    readings = [HistoryTranslator(tree, seed).node(state.apply(middle)) for seed in range(4000)]
    below, above, size = ((total - 100) / 200 for total in (small, large, middle))
    expected = (above - size) * (1 + below) / ((above - below) * (1 + size))
    share = readings.count(tree.child(root, small)) / len(readings)
    assert set(readings) == {tree.child(root, small), tree.child(root, large)}
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / len(readings)))


@pytest.mark.parametrize("menu", ["laptop", "demo"])
def test_random_real_histories_keep_in_step_and_give_legal_actions(menu: str) -> None:
    """All-in is among the sizes, so many of the random overbets are read as all-in, and the tree runs ahead."""
    tree = build_tree(Betting.start(load_rules("holdem_nolimit_2p")), load_menu(menu))
    rng = np.random.default_rng(7)
    translator = HistoryTranslator(tree, seed=3)
    ran_ahead = decisions = 0
    for _ in range(400):
        state = Betting.start(tree.rules)
        while not state.is_over:
            node = translator.node(state)
            decisions += 1
            if node is None:
                ran_ahead += 1
            else:
                assert tree.player[node] == state.to_act
                assert tree.street[node] == state.street
                assert all(state.legal().allows(action) for action in translator.real_actions(node, state))
            state = state.apply(_random_action(state, rng))
    assert decisions > 1500
    assert ran_ahead < 0.5 * decisions


def _random_action(state: Betting, rng: np.random.Generator) -> int:
    legal = state.legal()
    draw = rng.random()
    if legal.max_raise and draw < 0.4:
        room = legal.max_raise - legal.min_raise
        return legal.min_raise + int(room * rng.random() ** 6)
    return FOLD if legal.fold and draw > 0.95 else CALL


def test_bets_over_a_short_big_blind_are_read_exactly() -> None:
    """The whole blind is there to call, in the hand and in the tree."""
    rules = nolimit((5000, 30, 5000))
    tree = build_tree(Betting.start(rules), bet_menu(preflop=[[0.5, 1.0], []], flop=[[]], turn=[[]], river=[[]]))
    root = tree.after_deal(0)
    assert HistoryTranslator(tree, seed=1).real_actions(root, Betting.start(rules)) == tree.actions(root)
    assert tree.actions(root) == (FOLD, CALL, 200, 280)
    twice = Betting.start(nolimit((10000, 60, 10000), 200))
    assert HistoryTranslator(tree, seed=1).real_actions(root, twice) == (FOLD, CALL, 400, 560)


def test_a_fold_to_a_bet_that_was_read_as_a_check_leaves_the_tree() -> None:
    six = load_rules("holdem_nolimit_6p")
    rules = replace(six, num_players=3, stacks=six.stacks[:3], blinds=six.blinds[:3], first_player=(2, 0, 0, 0))
    menu = bet_menu(preflop=[["a"], []], flop=[[0.5], ["a"], []], turn=[[]], river=[[]])
    tree = build_tree(Betting.start(rules), menu)
    state = Betting.start(rules)
    for action in (CALL, CALL, CALL, 200):
        state = state.apply(action)
    readings = [HistoryTranslator(tree, seed) for seed in range(20)]
    as_checks = [
        translator for translator in readings if (node := translator.node(state)) and FOLD not in tree.actions(node)
    ]
    assert 0 < len(as_checks) < len(readings)
    for translator in readings:
        assert (translator.node(state.apply(FOLD)) is None) == (translator in as_checks)
        assert translator.node(state.apply(CALL)) is not None
