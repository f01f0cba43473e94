"""Histories with real sizes are read in the tree, alike every time, and the tree's actions are legal in the hand.

Single bets are read as in the published vectors (tests/golden/oracles.json).
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from poker.game.rules import CALL, FOLD
from poker.game.state import Betting
from poker.tree import BettingTree, Kind, bet_menu, build_tree
from poker.tree.translation import HistoryTranslator, pseudo_harmonic, translate
from tests.cases import cases
from tests.games import HEADS_UP, load_menu, load_rules
from tests.given import given
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


def test_bets_of_the_tree_are_rounded_as_those_of_menus() -> None:
    menu = bet_menu(preflop=[["3x"], []], flop=[[0.75], []], turn=[[]], river=[[]])
    tree, state = build_tree(Betting.start(HEADS_UP), menu), Betting.parse(HEADS_UP, "r301c/")
    translator = HistoryTranslator(tree, seed=1)
    node = given(translator.node(state))
    assert translator.real_actions(node, state)[1:] == menu.raise_totals(state) == (753,)


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


def test_readings_of_one_seed_are_drawn_for_each_history(tree: BettingTree) -> None:
    """One draw for all of them would read every bet up to some size as the smaller, and every other as the larger."""
    state, translator = Betting.start(tree.rules), HistoryTranslator(tree, seed=1)
    small, large = [action for action in tree.actions(tree.find(())) if action > 0][:2]
    readings = [translator.node(state.apply(total)) for total in range(small + 1, large)]
    assert sum(one != other for one, other in pairwise(readings)) > 5


@pytest.mark.parametrize("menu", ["laptop", "demo"])
def test_random_real_histories_keep_in_step_and_give_legal_actions(menu: str) -> None:
    """All-in is among the sizes. Many of the random overbets are therefore read as all-in, and the tree runs ahead."""
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


@pytest.fixture(scope="module")
def six() -> BettingTree:
    menu = bet_menu(
        preflop=[["2.25x", "a"], ["3x", "a"], ["a"]], flop=[[0.5], ["a"]], turn=[["a"]], river=[["a"]], beyond=[2, 3, 2]
    )
    return build_tree(Betting.start(load_rules("holdem_nolimit_6p")), menu)


@cases
def test_tables_of_six_are_read_as_the_tree_has_them(six: BettingTree, text: str, read: str) -> None:
    state = Betting.parse(six.rules, text)
    node = given(HistoryTranslator(six, seed=1).node(state))
    assert Betting.parse(six.rules, read) == six.betting(node)
    assert all(state.legal().allows(action) for action in HistoryTranslator(six, 1).real_actions(node, state))


def test_too_many_raisers_leave_the_tree(six: BettingTree) -> None:
    raised = Betting.parse(six.rules, "r225r700r4000fffcc/")
    assert HistoryTranslator(six, seed=1).node(raised) is None


def test_random_tables_of_six_keep_in_step(six: BettingTree) -> None:
    rng, translator, lost, decisions = np.random.default_rng(7), HistoryTranslator(six, seed=3), 0, 0
    for _ in range(300):
        state = Betting.start(six.rules)
        while not state.is_over:
            node, decisions = translator.node(state), decisions + 1
            if node is None:
                lost += 1
            else:
                assert (six.player[node], six.street[node]) == (state.to_act, state.street)
                assert all(state.legal().allows(action) for action in translator.real_actions(node, state))
            state = state.apply(_random_action(state, rng))
    assert decisions > 3000
    assert lost < 0.7 * decisions


VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "oracles.json").read_text())["pseudo_harmonic"]["vectors"]


@pytest.mark.parametrize("vector", VECTORS)
def test_published_vectors(vector: dict[str, float]) -> None:
    assert pseudo_harmonic(vector["A"], vector["B"], vector["x"]) == pytest.approx(vector["P_A"], abs=1e-12)


def test_bets_between_below_and_above_the_tree() -> None:
    actions = (FOLD, CALL, 150, 200)
    # highest total 100, pot 100: the tree bets 0.5 and 1 pot
    between = translate(175, actions, 100, 100)
    assert [action for action, _ in between] == [150, 200]
    assert [share for _, share in between] == pytest.approx([3 / 7, 4 / 7])
    action, share = translate(137, actions, 100, 100)[0]
    assert action == CALL
    assert share == pytest.approx(0.18978, abs=1e-5)
    assert translate(900, actions, 100, 100) == [(200, 1.0)]
    assert translate(150, actions, 100, 100) == [(150, 1.0)]
    assert translate(150, (FOLD, CALL), 100, 100) == [(CALL, 1.0)]
