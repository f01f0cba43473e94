"""A blueprint at a table of six where its tree does not help: hands call by pot odds."""

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.agents.blueprint import BlueprintAgent, pot_odds_policy
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting, HandState
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.cases import cases
from tests.games import SIX

BOARD = parse_cards("AhKd7c7s2d")


@pytest.fixture(scope="module")
def agent() -> BlueprintAgent:
    tables = [np.zeros((NUM_BOARDS[size], NUM_HANDS), np.uint8) for size in (3, 4, 5)]
    menu = bet_menu(preflop=[["2.25x"], ["3x"], ["2.3x"], []], flop=[[]], turn=[[]], river=[[]], beyond=[2])
    tree = build_tree(Betting.start(SIX), menu)
    blueprint = random_blueprint(tree, make_abstraction([PREFLOP_CLASS[None], *tables], [169, 1, 1, 1]))
    return BlueprintAgent(name="blueprint", blueprint=blueprint, translation_seed=0)


def calls(agent: BlueprintAgent, text: str, cards: str) -> float:
    state = HandState(Betting.parse(SIX, text), ((),) * 6, BOARD)
    actions, probs = agent.policy(state)
    assert actions == (FOLD, CALL)
    return float(probs[hand_index(*sorted(parse_cards(cards))), 1])


@cases
def test_hands_call_by_pot_odds(agent: BlueprintAgent, text: str, cards: str, called: float) -> None:
    assert calls(agent, text, cards) == called


def test_who_has_raised_plays_the_blueprint(agent: BlueprintAgent) -> None:
    actions, _ = agent.policy(HandState(Betting.parse(SIX, "r225r675r1552fff"), ((),) * 6, BOARD))
    assert len(actions) == len(
        agent.blueprint.tree.actions(agent.blueprint.tree.find((225, 675, 1552, FOLD, FOLD, FOLD)))
    )
    assert pot_odds_policy(Betting.parse(SIX, "ffffcc/"), BOARD[:3])[0] == (CALL,)
