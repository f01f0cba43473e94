"""Hints of the released agent with the search of the table, in 25 spots on which strong players agree."""

import pytest

from conf.compose import build, compose
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.betting import Betting
from poker.game.cards import hand_index, parse_cards
from poker.game.rules import Rules
from poker.game.state import public_state
from tests.cases import cases
from tests.killed import ROOT

BUNDLE = f"artifacts={ROOT / 'models' / 'trained' / 'laptop.bundle'}"


@pytest.fixture(scope="module")
def table() -> tuple[DepthLimitedAgent, Rules]:
    config = compose("evaluate", ["evaluate=play", "agents=[depth_limited]", "scale=laptop", BUNDLE])
    return build(config.agent.depth_limited), build(config.game)


@pytest.mark.slow
@cases
def test_a_strong_player_accepts_the_answer(
    table: tuple[DepthLimitedAgent, Rules],
    hand: str,
    line: tuple[int, ...],
    board: str,
    limits: tuple[tuple[str, float, float], ...],
) -> None:
    agent, game = table
    betting = Betting.start(game)
    for action in line:
        betting = betting.apply(action)
    index = hand_index(*parse_cards(hand))
    solved = agent.opponents_decision(public_state(betting, parse_cards(board)), hand=index)
    answer = dict(zip(solved.actions, solved.strategy[index] / solved.strategy[index].sum(), strict=True))
    small = betting.highest + betting.pot // 2
    of = {
        "fold": answer.get(-1, 0.0),
        "raise": sum(share for action, share in answer.items() if action > 0),
        "small bet": sum(share for action, share in answer.items() if 0 < action <= small),
        "all-in": answer.get(game.stacks[0], 0.0),
    }
    for kind, least, most in limits:
        assert least <= of[kind] <= most, answer
