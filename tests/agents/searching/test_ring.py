"""A blueprint at a table of three that solves rounds after the first: ranges that come there, and what it plays."""

from dataclasses import replace

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.agents.base import hand_number
from poker.agents.blueprint import BlueprintAgent
from poker.agents.searching.ring import DepthLimitedRingAgent
from poker.game.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS, hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting, HandState, public_state
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.run.errors import PokernetsError
from poker.search.settings import SearchSettings
from poker.solve.types import SolverSettings
from poker.solvers.blueprint import Blueprint
from poker.studio.hands.review import Advice, Reviews
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.cases import cases
from tests.games import load_rules

RULES = load_rules("holdem_nolimit_3p")
BOARD = parse_cards("AhKd7c7s2d")
LINE = "r225fc/cr560c/cr1800"
"""The button raises, the big blind calls, and then calls bets on the flop and on the turn."""


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    tables = [np.zeros((NUM_BOARDS[size], NUM_HANDS), np.uint8) for size in (3, 4, 5)]
    menu = bet_menu(preflop=[["2.25x"], []], flop=[[0.67], []], turn=[[]], river=[[]])
    tree = build_tree(Betting.start(RULES), menu)
    return random_blueprint(tree, make_abstraction([PREFLOP_CLASS[None], *tables], [169, 1, 1, 1]))


@pytest.fixture(scope="module")
def agent(blueprint: Blueprint) -> DepthLimitedRingAgent:
    menu = bet_menu(flop=[[0.67], ["a"]], turn=[[1.0], ["a"]], river=[[1.0], ["a"]])
    solver = SolverSettings("apdcfr", (20, 4, 4, 60), 1)
    search = SearchSettings(menu=menu, ahead=menu, solver=solver, opponent_noise=0.0, remembered_states=10)
    return DepthLimitedRingAgent(name="ring", blueprint=blueprint, translation_seed=0, search=search, factor=10.0)


def at(text: str) -> HandState:
    betting = Betting.parse(RULES, text)
    return HandState(betting, ((),) * 3, BOARD)


def plain(blueprint: Blueprint) -> BlueprintAgent:
    return BlueprintAgent(name="blueprint", blueprint=blueprint, translation_seed=0)


def test_before_the_flop_it_is_the_blueprint(blueprint: Blueprint, agent: DepthLimitedRingAgent) -> None:
    for text in ("", "r225f", "r225"):
        actions, probs = agent.policy(at(text))
        wanted = plain(blueprint).policy(at(text))
        assert actions == wanted[0]
        assert np.array_equal(probs, wanted[1])


def test_ranges_equal_the_blueprints(blueprint: Blueprint, agent: DepthLimitedRingAgent) -> None:
    root = agent.root(Betting.parse(RULES, LINE))
    assert root == Betting.parse(RULES, "r225fc/")
    board = BOARD[:3]
    wanted = np.repeat(HOLDEM.live(board)[None].astype(np.float64), 3, axis=0)
    for before, player, action in root.turns():
        if player != 0:
            actions, probs = plain(blueprint).policy(public_state(before, ()))
            wanted[player] *= probs[:, actions.index(action)]
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(agent.ranges(root, board, agent.settings.opponent_noise)[1:], wanted[1:], atol=1e-6)


def test_searches_begin_where_few_are_left(agent: DepthLimitedRingAgent) -> None:
    six = load_rules("holdem_nolimit_6p")
    for turn, few in (("r225ccccc/r800ccccc/", False), ("r225ccccc/r800ffccc/", True)):
        root = agent.root(Betting.parse(six, turn + "cc"))
        assert root == (Betting.parse(six, turn) if few else None)


@cases
def test_rounds_are_solved_with_real_bets(agent: DepthLimitedRingAgent, line: str) -> None:
    state = at(line)
    actions, probs = agent.policy(state)
    assert all(state.legal().allows(action) for action in actions)
    assert max(actions) > 0
    live = HOLDEM.live(state.board)
    np.testing.assert_allclose(probs[live].sum(axis=1), 1, atol=1e-4)
    if FOLD in actions and not line.startswith("r225cc"):  # those are sampled, and briefly
        quads = state.betting.rules.parse_cards("7h7d")
        hand = hand_number(HandState(state.betting, ((), quads, quads), BOARD), state.to_act)
        assert probs[hand, actions.index(FOLD)] < 0.01


def test_the_policy_is_a_function_of_the_public_state(blueprint: Blueprint, agent: DepthLimitedRingAgent) -> None:
    """A searcher asked on the way there, in another order of the flop, and one asked at once."""
    line, another = "r225cc/ccc/cr700f", (*BOARD[2::-1], *BOARD[3:])
    other = DepthLimitedRingAgent(
        name="ring", blueprint=blueprint, translation_seed=0, search=agent.settings, factor=10.0
    )
    other.policy(HandState(Betting.parse(RULES, "r225cc/"), ((),) * 3, another))
    actual, wanted = other.policy(HandState(Betting.parse(RULES, line), ((),) * 3, another)), agent.policy(at(line))
    assert actual[0] == wanted[0]
    assert np.array_equal(actual[1], wanted[1])


def test_decisions_of_two_left_are_reviewed(agent: DepthLimitedRingAgent) -> None:
    """A review is in chips of the table: a fold is worth 0, a call of all that is left what showdowns give."""
    reviews = Reviews(RULES, agent)
    assert reviews.why_not == ""
    held = (), parse_cards("KhQh"), parse_cards("7h7d")
    state = HandState(Betting.parse(RULES, "r225fc/cr560c/cc/r10000"), held, BOARD)
    decision = reviews.decision(state.view(state.to_act), CALL)
    assert decision.actions == (FOLD, CALL)
    np.testing.assert_allclose(decision.evs, [0, state.betting.pot], atol=0.5)  # nothing beats the quads
    assert decision.loss == pytest.approx(0)
    assert [view.street for view, _ in reviews.reviewed(state, 1)] == [2, 3]


def test_hands_of_others_are_solved_with_their_stacks(agent: DepthLimitedRingAgent) -> None:
    """The small blind folds with other chips behind: only the two who are left matter."""
    state = public_state(Betting.parse(RULES, LINE), BOARD[:4])
    own = agent.others_decision(state)
    assert own.actions == agent.opponents_decision(state).actions
    short = replace(RULES, stacks=(7777, 3000, 3000))
    decision = agent.others_decision(public_state(Betting.parse(short, LINE), BOARD[:4]))
    assert max(decision.actions) == 3000 < max(own.actions)


def test_other_decisions_have_advice(agent: DepthLimitedRingAgent) -> None:
    """An opinion has the agent's own frequencies and no values."""
    state = HandState(Betting.parse(RULES, "r225c"), ((), parse_cards("7h7d"), ()), BOARD).view(1)
    advice = Reviews(RULES, agent).opinion(state, FOLD)
    assert isinstance(advice, Advice)
    actions, probs = agent.policy(public_state(state.betting, ()))
    assert advice.actions == actions
    assert advice.frequencies == pytest.approx(probs[hand_index(*parse_cards("7h7d"))])
    assert advice.grid.shape == (169, len(actions))
    html = pytest.importorskip("poker.studio.panels.review", exc_type=ImportError).advice_html(advice)
    assert "began with two" in html
    assert "fold (you)" in html
    assert "EV" not in html


def test_heads_up_is_another_agents(agent: DepthLimitedRingAgent) -> None:
    with pytest.raises(PokernetsError, match="use depth_limited"):
        agent.check_game(load_rules("holdem_nolimit_2p"))
