"""Hands that a searching agent is not expected to have where it is asked: their weight is said, and they are solved."""

from contextlib import closing
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from poker.agents.searching.base import ranged_policy
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.betting import Betting
from poker.game.cards import HAND_CARDS, HOLDEM, RARE, hand_index, parse_cards
from poker.game.rules import CALL
from poker.game.state import HandState, Policy, public_state
from poker.play.lineup import AgentSpec
from poker.studio.hands.review import review
from poker.studio.server.access import Access
from poker.studio.serving.loaded_agent import LoadedAgent
from poker.studio.serving.questions import AgentQuestion, Desk
from poker.studio.serving.web import interface
from tests.agents.opaque import Opaque
from tests.games import HEADS_UP as RULES
from tests.search.even_leaf import even_solver

BETTING, BOARD = "r300r900c/r1800c/r5400c/r10800", "JhJdTcQs2c"
NEVER = "7h3d"
"""A hand that has called two large bets without a draw, and now loses to every hand that bets."""


@pytest.fixture(scope="module")
def loaded() -> LoadedAgent:
    return LoadedAgent(even_solver(), RULES)


def test_a_hand_that_is_not_expected_is_solved_for_and_not_played_at_random(loaded: LoadedAgent) -> None:
    """It never calls, and what it does is within a fiftieth of the pot of the best that a solve of its own finds."""
    state = loaded.state(BETTING, BOARD, NEVER)
    assert isinstance(loaded.agent, DepthLimitedAgent)
    solved = loaded.agent.opponents_decision(public_state(state.betting, state.board))
    values = dict(zip(solved.actions, solved.values[hand_index(*parse_cards(NEVER))].tolist(), strict=True))
    actions = {loaded.act(state) for _ in range(30)}
    assert CALL not in actions
    assert min(values[action] for action in actions) > max(values.values()) - 0.02 * state.betting.pot
    assert values[CALL] < max(values.values()) - 0.2 * state.betting.pot


def test_solves_that_the_clock_ends_are_not_repeatable() -> None:
    assert even_solver().repeatable
    assert not even_solver(seconds_per_hand=1.0).repeatable


def test_a_strategy_has_weights_and_no_rows_for_hands_that_are_not_expected(loaded: LoadedAgent) -> None:
    table = loaded.strategy(loaded.state(BETTING, BOARD))
    fold, weights = table["fold"], table["weight"]
    assert weights.max() == 1.0
    assert np.isnan(fold[table["hand"] == NEVER]).all()
    assert np.isnan(fold).sum() > 100
    assert np.isnan(fold[weights < RARE]).all()
    assert not np.isnan(fold[weights > 0.01]).any()
    held = loaded.strategy(loaded.state(BETTING, BOARD, NEVER))
    assert held["call"][held["hand"] == NEVER] < 0.01
    same = held["hand"] != NEVER
    np.testing.assert_array_equal(held["fold"][same], fold[same])
    np.testing.assert_array_equal(held["weight"], weights)


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(RULES, [AgentSpec("solver", even_solver, {})], None, 1, 0)


@pytest.mark.parametrize("over_http", [False, True], ids=["asked", "HTTP"])
def test_answers_say_which_hands_are_not_expected(loaded: LoadedAgent, desk: Desk, over_http: bool) -> None:
    def ask(**question: str) -> dict[str, Any]:
        if not over_http:  # as tools of language models do
            return desk.answer(AgentQuestion(**question))
        with closing(TestClient(Access(interface(desk), None), base_url="http://localhost")) as client:
            answer: dict[str, Any] = client.post("/ask", json=question).json()
            return answer

    table = loaded.strategy(loaded.state(BETTING, BOARD, NEVER))
    row = list(table["hand"]).index(NEVER)
    one = ask(betting=BETTING, board=BOARD, hand=NEVER)
    assert "not expected to have 7h3d" in one["note"]
    assert one["hands"]["weight"] == pytest.approx([table["weight"][row]], rel=1e-5)
    assert one["hands"]["fold"] == pytest.approx([table["fold"][row]], rel=1e-5)
    every = ask(betting=BETTING, board=BOARD)
    assert every["hands"]["fold"][row] is None
    assert f"{every['hands']['fold'].count(None)} of 1,081 hands are null" in every["note"]
    assert "note" not in ask(betting=BETTING, board=BOARD, hand="AhAc")


@pytest.mark.parametrize(("betting", "board"), [("r300r900", ""), ("r300r900c/r1800", BOARD[:6]), (BETTING, BOARD)])
def test_reviews_and_hints_have_the_same_weights(loaded: LoadedAgent, betting: str, board: str) -> None:
    state = loaded.state(betting, board, NEVER)
    assert isinstance(loaded.agent, DepthLimitedAgent)
    weights = ranged_policy(loaded.agent, state).weights
    hand, public = hand_index(*parse_cards(NEVER)), public_state(state.betting, state.board)
    assert review(loaded.agent.opponents_decision(public), state, CALL).weight == weights[hand]
    assert review(loaded.agent.others_decision(public), state, CALL).weight == weights[hand]
    np.testing.assert_array_equal(loaded.agent.others_decision(public).weights, weights)


class RaisesPairs(Opaque):
    """Raises to 300 or 900 with every pair and a quarter of its other hands, else calls."""

    def policy(self, state: HandState) -> Policy:
        raises = np.where(PAIRS, 1.0, 0.25)
        return (CALL, 300 if state.betting.highest == 100 else 900), np.stack([1 - raises, raises], axis=1)


PAIRS = HAND_CARDS[:, 0] // 4 == HAND_CARDS[:, 1] // 4


def test_weights_of_an_agent_without_search_follow_from_its_policy() -> None:
    board = parse_cards(BOARD[:6])
    ranged = ranged_policy(RaisesPairs(), public_state(Betting.parse(RULES, "r300r900c/"), board))
    live = HOLDEM.live(board)
    np.testing.assert_allclose(ranged.weights, np.where(live, np.where(PAIRS, 1.0, 0.25), 0.0), rtol=1e-6)
    assert np.isfinite(ranged.probs).all()
