"""OpenSpiel's universal_poker, which embeds the ACPC code, plays random hands of our definitions beside us."""

import random

import numpy as np
import pytest

from poker.agents.foreign.openspiel import UniversalPoker
from poker.game.rules import Rules
from poker.game.state import HandState
from tests.games import load_rules as game
from tests.random_play import nolimit, random_action

LIMIT_GAMES = ["kuhn", "leduc", "holdem_limit_2p", "holdem_limit_3p"]
NOLIMIT_GAMES = ["holdem_nolimit_2p", "flop_holdem_nolimit"]


def play_one_hand(poker: UniversalPoker, rng: random.Random, cards: np.random.Generator) -> None:
    rules, other = poker.rules, poker.game.new_initial_state()
    state = HandState.deal(rules, cards)
    assert len(other.legal_actions()) == rules.deck_size
    pending = poker.chance_actions(state)
    while not state.is_over:
        while other.is_chance_node():
            other.apply_action(pending.pop(0))
        legal = state.legal()
        ours = [0] * legal.fold + [1] * legal.call
        ours += [2] * (legal.max_raise > 0) if rules.is_limit else range(legal.min_raise or 1, legal.max_raise + 1)
        assert not other.is_terminal(), state.betting.text()
        assert other.current_player() == state.to_act, state.betting.text()
        assert other.legal_actions() == ours, state.betting.text()
        assert poker.from_openspiel(other).view(state.to_act) == state.view(state.to_act)
        visible = poker.to_openspiel(state.view(state.to_act))
        assert visible.information_state_string() == other.information_state_string()
        action = random_action(legal, rng)
        other.apply_action(poker.action_to_openspiel(state.betting, action))
        state = state.apply(action)
    while other.is_chance_node():
        other.apply_action(pending.pop(0))
    assert other.is_terminal()
    assert f"STATE:0:{state.betting.text()}:" in str(other)
    fraction = 0.0 if rules.num_players == 2 else 0.99  # they split odd chips into fractions
    np.testing.assert_allclose(state.payoffs(), other.returns(), rtol=0, atol=fraction)


@pytest.mark.parametrize(
    ("name", "hands"), [*((name, 500) for name in LIMIT_GAMES), *((name, 30) for name in NOLIMIT_GAMES)]
)
def test_universal_poker_agrees(name: str, hands: int) -> None:
    poker = UniversalPoker(game(name))
    rng, cards = random.Random(1), np.random.default_rng(1)
    for _ in range(hands):
        play_one_hand(poker, rng, cards)


def test_the_dealer_of_the_acpc_has_rules_of_its_own_for_different_stacks() -> None:
    """Short all-ins of three and four players: 24 games of the code that universal_poker embeds."""
    rng, cards = random.Random(3), np.random.default_rng(3)
    for players in (3, 4) * 12:
        ours = nolimit(tuple(rng.randint(10, rng.choice((25, 60))) for _ in range(players)), 10)
        poker = UniversalPoker(Rules.from_acpc(ours.to_acpc()))
        for _ in range(20):
            play_one_hand(poker, rng, cards)
