"""An agent that searches on some streets and plays a blueprint on the others."""

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.agents.base import ranges_at
from poker.agents.blueprint import BlueprintAgent
from poker.agents.searching.heads_up import DepthLimitedAgent, solved_board
from poker.game.betting import Betting
from poker.game.cards import HAND_CARDS, PREFLOP_CLASS, parse_cards
from poker.game.rules import CALL, STREET_NAMES
from poker.game.state import public_state
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.run.errors import PokernetsError
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.games import load_rules
from tests.search.even_leaf import even_solver

RULES = load_rules("holdem_nolimit_2p")
BOARD = parse_cards("JhJdTcQs2c")
LINES = ("", "r250", "r300c/", "r300c/r517", "r300c/r900c/", "r300c/r900c/r2011", "r300c/cr750c/cc/r1777")
"""Some bets of which are in no tree."""


@pytest.fixture(scope="module")
def blueprint() -> BlueprintAgent:
    ranks = (HAND_CARDS.max(axis=1) // 4).astype(np.uint8)
    tables = [np.broadcast_to(ranks, (NUM_BOARDS[size], len(ranks))) for size in (3, 4, 5)]
    menu = bet_menu(preflop=[[1.0, "a"], []], flop=[[1.0], []], turn=[[0.5], []], river=[[1.0], []])
    policy = random_blueprint(
        build_tree(Betting.start(RULES), menu), make_abstraction([PREFLOP_CLASS[None], *tables], [169, 13, 13, 13])
    )
    return BlueprintAgent(name="blueprint", blueprint=policy, translation_seed=0)


def policies(agent: DepthLimitedAgent | BlueprintAgent) -> list[tuple[tuple[int, ...], np.ndarray]]:
    states = [Betting.parse(RULES, line) for line in LINES]
    return agent.policies([public_state(state, BOARD[: RULES.board_sizes[state.street]]) for state in states])


@pytest.mark.parametrize("searched", ["none", "all"])
def test_without_a_street_it_is_the_blueprint_and_with_all_the_agent(blueprint: BlueprintAgent, searched: str) -> None:
    streets = () if searched == "none" else STREET_NAMES
    plain = blueprint if searched == "none" else even_solver(both_sides=True)
    for (actions, probs), (expected, rows) in zip(
        policies(even_solver(streets=streets, elsewhere=blueprint, both_sides=True)), policies(plain), strict=True
    ):
        assert actions == expected
        np.testing.assert_array_equal(probs, rows)


def test_on_one_street_it_searches_from_the_ranges_of_the_blueprint(blueprint: BlueprintAgent) -> None:
    agent = even_solver(streets=["flop"], elsewhere=blueprint)
    whole, none = policies(even_solver()), policies(blueprint)
    for line, (actions, probs), (_, solved), (expected, rows) in zip(LINES, policies(agent), whole, none, strict=True):
        if Betting.parse(RULES, line).street == 1:
            assert probs.shape != rows.shape or (probs != rows).any()
            assert probs.shape != solved.shape or (probs != solved).any()  # other ranges
        else:
            assert actions == expected
            np.testing.assert_array_equal(probs, rows)
    betting, (board, _) = Betting.parse(RULES, LINES[3]), solved_board(BOARD[:3])
    for seat, search in enumerate(agent._search):
        before = Betting.parse(RULES, LINES[2])
        ranges = ranges_at(blueprint.policy, before, board, noise=0.02)
        own = ranges_at(blueprint.policy, before, board)
        ranges[seat] = own[seat]
        np.testing.assert_allclose(search.belief(before, board).ranges, ranges, rtol=1e-5)
    assert agent.solved_values(public_state(betting, BOARD[:3]), 0) is not None
    assert agent.solved_values(public_state(Betting.parse(RULES, "r300"), ()), 0) is None


def test_where_the_hand_has_left_the_tree_of_the_blueprint_it_searches(blueprint: BlueprintAgent) -> None:
    state = public_state(Betting.parse(RULES, "r19000c/"), BOARD[:3])  # read as all-in
    assert blueprint.policy(state)[0] == (CALL,)
    actions, probs = even_solver(streets=(), elsewhere=blueprint).policy(state)
    assert actions == (CALL, 20000)
    assert 0 < probs[:, 1].mean() < 1


@pytest.mark.parametrize(("streets", "names"), [(["river"], "elsewhere"), (["fiver"], "not fiver")])
def test_what_cannot_be_played_is_refused(streets: list[str], names: str) -> None:
    with pytest.raises(PokernetsError, match=names):
        even_solver(streets=streets)
