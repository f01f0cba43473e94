"""Best responses: closed-form constants, brute force, OpenSpiel, and flop hold'em with few bets."""

import math

import numpy as np
import pytest

from poker.abstraction.equities import margins, showdown_chances, showdown_totals
from poker.agents.simple import AlwaysCall
from poker.game.rules import Rules
from poker.game.state import HandState, Policy
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.cards.strength import boards_strength
from poker.run.errors import PokernetsError
from poker.solvers.best_response.public import best_response, is_walkable
from poker.tree import bet_menu
from tests.cases import cases
from tests.evaluation.small_games import RandomPolicy, best_response_value, legal_actions
from tests.games import load_rules
from tests.random_play import nolimit
from tests.solvers.best_response.classes import response_by_hand


class Uniform:
    """Every action of a limit game equally likely."""

    def policy(self, state: HandState) -> Policy:
        actions = legal_actions(state.betting)
        return actions, np.full((state.rules.num_hands, len(actions)), 1 / len(actions))


def nash_conv(rules: Rules, policy: RandomPolicy | Uniform) -> float:
    return sum(best_response(rules, policy.policy, player) for player in range(2))


@pytest.mark.parametrize(("game", "wanted"), [("kuhn", 0.9166666666666666), ("leduc", 4.747222222)])
def test_uniform_policy(game: str, wanted: float) -> None:
    """OpenSpiel's nash_conv of the uniform policy."""
    assert nash_conv(load_rules(game), Uniform()) == pytest.approx(wanted, abs=1e-8)


def test_leduc_equals_brute_force() -> None:
    rules = load_rules("leduc")
    policy = RandomPolicy(rules, 11)
    for player in range(2):
        assert best_response(rules, policy.policy, player) == pytest.approx(
            best_response_value(rules, policy, player), abs=1e-9
        )


@cases
def test_showdowns_of_two_card_hands(game: str, board: str) -> None:
    """The sweep over ranges equals the matrix of all pairs, which comes from other code."""
    rules = load_rules(game)
    cards = rules.parse_cards(board)
    weights = np.random.default_rng(2).random(rules.num_hands) * rules.space.live(cards)
    wanted = margins(rules, cards).astype(float) @ weights
    assert np.allclose(showdown_chances(rules, cards, weights), wanted, atol=1e-3)
    own = np.stack([2 * weights, np.sqrt(weights)])
    assert showdown_totals(rules, cards, own, weights) == pytest.approx([0.0, own[1] @ wanted], rel=1e-4, abs=1e-3)


def test_showdowns_from_the_flop_are_the_mean_over_turns() -> None:
    rules = load_rules("holdem_nolimit_2p")
    flop = rules.parse_cards("AhAd7c")
    weights = np.random.default_rng(2).random(rules.num_hands) * rules.space.live(flop)
    total = np.zeros(rules.num_hands)
    for card in set(range(rules.deck_size)) - set(flop):
        live = rules.space.live((*flop, card))
        total += live * showdown_chances(rules, (*flop, card), weights * live)
    assert np.allclose(showdown_chances(rules, flop, weights), total / (52 - 3 - 4), atol=1e-3)


def test_flop_holdem_against_always_call() -> None:
    """Pushing or waiting for the flop and pushing when ahead: the value of each hand from strengths on all flops."""
    rules = load_rules("flop_holdem_nolimit")
    push, big = 20_000, rules.big_blind
    boards, counts = canonical_boards(3), board_multiplicities(3)
    strength = boards_strength(boards).astype(float)  # -1 blocked, else 2 beaten + tied of 1,081 opponents
    margin = np.where(strength < 0, 0.0, 2 * strength / 2162 - 1)
    chips = np.where(margin > 0, push * margin, big * margin)
    by_hand = [(counts @ value)[HAND_PERMUTATION].mean(axis=0) / math.comb(50, 3) for value in (chips, margin)]
    wanted = np.maximum(by_hand[0], push * by_hand[1])
    caller = AlwaysCall(name="caller")
    big_blind = response_by_hand(rules, caller.policy, 0, bet_menu(preflop="a", flop="a"))
    assert np.allclose(big_blind, wanted, rtol=1e-9)
    assert big_blind.mean() == pytest.approx(wanted.mean())
    button = response_by_hand(rules, caller.policy, 1, bet_menu(preflop="a", flop="a"))
    assert button.mean() == pytest.approx(np.maximum(wanted, -rules.blinds[1]).mean())


def test_what_can_be_walked() -> None:
    assert is_walkable(load_rules("flop_holdem_nolimit"))
    assert not is_walkable(nolimit((1000, 1000)))
    with pytest.raises(PokernetsError, match="needs a bet menu"):
        best_response(load_rules("flop_holdem_nolimit"), AlwaysCall(name="caller").policy, 0)
