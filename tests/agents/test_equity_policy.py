"""The equity player whose policy is known: its equities match sampled ones, and its policy follows its rules."""

import numpy as np
import pytest

from poker.agents.base import PolicyAgent, hand_number
from poker.agents.equity import EquityAgent, EquityPolicyAgent
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, public_state
from tests.games import HEADS_UP as RULES

ROOT = {"raise_size": 0.75, "value": 0.58, "value_step": 0.04, "margin": 0.0, "bluff": 0.1, "fear": 0.7, "noise": 0.25}


def agent(samples: int = 60) -> EquityPolicyAgent:
    return EquityPolicyAgent(name="known", samples=samples, **ROOT)


def with_equities(monkeypatch: pytest.MonkeyPatch, text: str, *equities: float) -> tuple[tuple[int, ...], np.ndarray]:
    """Actions, and the policy's rows for the first hands when those have the given `equities`."""
    player = agent()
    values = np.full(RULES.num_hands, 0.5)
    values[: len(equities)] = equities
    monkeypatch.setattr(player, "equities", lambda *_: values)
    actions, probs = player.policy(public_state(Betting.parse(RULES, text), parse_cards("2c2d7h")))
    np.testing.assert_allclose(probs.sum(axis=1), 1.0)
    return actions, probs[: len(equities)]


@pytest.mark.parametrize("board", ["", "KhKd9h4c", "AsKsQs7d2c"])
@pytest.mark.parametrize("floor", [0.0, 0.6])
def test_equities_are_those_that_are_sampled(board: str, floor: float) -> None:
    """Compare with 6,000 samples, each 0, a half or 1, to within four standard errors."""
    sampling, cards = EquityAgent(name="sampling", samples=6000, **ROOT), parse_cards(board)
    betting = Betting.start(RULES)
    while RULES.board_sizes[betting.street] < len(cards):
        betting = betting.apply(CALL)
    exact = agent().equities(RULES, cards, floor)
    for text in ("QcJc", "3h3s", "AhTd"):
        hole: list[tuple[int, ...]] = [(), ()]
        hole[betting.to_act] = parse_cards(text)
        sampled = sampling.equity(HandState(betting, tuple(hole), cards), [floor])
        assert sampled == pytest.approx(exact[hand_index(*parse_cards(text))], abs=4 * 0.5 / np.sqrt(6000))


def test_flops_are_looked_at_by_the_same_runouts_each_time() -> None:
    board = parse_cards("Th6d8s")
    exact, some = agent(1176).equities(RULES, board, 0.5), agent(60).equities(RULES, board, 0.5)
    live = HOLDEM.live(board)
    apart = np.abs(exact - some)[live]
    assert 0.005 < apart.mean() < 0.05
    assert apart.max() < 0.25
    np.testing.assert_array_equal(agent(60).equities(RULES, (board[2], board[0], board[1]), 0.5), some)


def test_the_policy_is_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, probs = with_equities(monkeypatch, "cc/", 0.59, 0.55, 0.45)  # nothing is asked: 0.58 is worth a bet
    assert actions == (CALL, 250)
    np.testing.assert_allclose(probs, [[0.0, 1.0], [1.0, 0.0], [0.9, 0.1]], atol=1e-6)
    actions, probs = with_equities(monkeypatch, "cc/r300", 0.63, 0.61, 0.34, 0.33)  # 200 for 600: a third
    assert actions[:2] == (FOLD, CALL)
    np.testing.assert_allclose(probs, [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]], atol=1e-6)
    actions, probs = with_equities(monkeypatch, "cc/r20000", 0.99, 0.4)  # nothing is left to raise with
    assert actions == (FOLD, CALL)
    np.testing.assert_allclose(probs, [[0, 1], [1, 0]])


def test_it_plays_by_its_policy() -> None:
    player, rng = agent(), np.random.default_rng(2)
    assert isinstance(player, PolicyAgent)
    assert not isinstance(EquityAgent(name="sampling", samples=10, **ROOT), PolicyAgent)
    taken = 0
    for deal in range(30):
        player.reset(deal)
        state = HandState.deal(RULES, rng)
        while not state.is_over:
            actions, probs = player.policy(state)
            action = player.act(state.view(state.to_act))
            assert probs[hand_number(state, state.to_act), actions.index(action)] > 0
            state, taken = state.apply(action), taken + 1
    assert taken > 100
