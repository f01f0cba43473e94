"""OpenSpiel's universal_poker, which embeds the ACPC code, plays random hands of our definitions beside us."""

import random

import numpy as np
import pyspiel
import pytest

from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from tests.games import load_rules as game
from tests.random_play import nolimit, random_action

LIMIT_GAMES = ["kuhn", "leduc", "holdem_limit_2p", "holdem_limit_3p"]
NOLIMIT_GAMES = ["holdem_nolimit_2p", "flop_holdem_nolimit"]


def universal_poker(rules: Rules) -> pyspiel.Game:
    parameters = {
        "betting": rules.betting,
        "bettingAbstraction": "fcpa" if rules.is_limit else "fullgame",
        "numPlayers": rules.num_players,
        "numRounds": rules.num_streets,
        "blind": " ".join(map(str, rules.blinds)),
        "stack": " ".join(map(str, rules.stacks)),
        "raiseSize": " ".join(map(str, rules.raise_sizes)),
        "maxRaises": " ".join(map(str, rules.max_raises)),
        "firstPlayer": " ".join(str(player + 1) for player in rules.first_player),
        "numSuits": rules.num_suits,
        "numRanks": rules.num_ranks,
        "numHoleCards": rules.num_hole_cards,
        "numBoardCards": " ".join(map(str, rules.board_cards)),
    }
    return pyspiel.load_game("universal_poker", {key: value for key, value in parameters.items() if value != ""})


def their_action(state: HandState, action: int) -> int:
    """0 folds, 1 calls; a raise is 2 in limit games and the raise-to total in no-limit games."""
    if action == FOLD:
        return 0
    if action == CALL:
        return 1
    return 2 if state.rules.is_limit else action


def play_one_hand(rules: Rules, other: pyspiel.State, rng: random.Random, cards: np.random.Generator) -> None:
    state = HandState.deal(rules, cards)
    deck = other.legal_actions()
    assert len(deck) == rules.deck_size
    pending = [deck[card] for hand in state.hole_cards for card in hand] + [deck[card] for card in state.runout]
    while not state.is_over:
        while other.is_chance_node():
            other.apply_action(pending.pop(0))
        legal = state.legal()
        ours = [0] * legal.fold + [1] * legal.call
        ours += [2] * (legal.max_raise > 0) if rules.is_limit else range(legal.min_raise or 1, legal.max_raise + 1)
        assert not other.is_terminal(), state.betting.text()
        assert other.current_player() == state.to_act, state.betting.text()
        assert other.legal_actions() == ours, state.betting.text()
        action = random_action(legal, rng)
        other.apply_action(their_action(state, action))
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
    rules = game(name)
    other = universal_poker(rules)
    rng, cards = random.Random(1), np.random.default_rng(1)
    for _ in range(hands):
        play_one_hand(rules, other.new_initial_state(), rng, cards)


def test_the_dealer_of_the_acpc_has_rules_of_its_own_for_different_stacks() -> None:
    """Short all-ins of three and four players: 24 games of the code that universal_poker embeds."""
    rng, cards = random.Random(3), np.random.default_rng(3)
    for players in (3, 4) * 12:
        ours = nolimit(tuple(rng.randint(10, rng.choice((25, 60))) for _ in range(players)), 10)
        rules = Rules.from_acpc(ours.to_acpc())
        other = universal_poker(rules)
        for _ in range(20):
            play_one_hand(rules, other.new_initial_state(), rng, cards)
