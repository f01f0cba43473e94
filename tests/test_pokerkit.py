"""Random no-limit hands with unequal stacks, replayed in PokerKit: legality at every decision, pots and payoffs."""

import random
import warnings

import numpy as np
import pytest
from pokerkit import Automation, Mode, NoLimitTexasHoldem, State

from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from tests.random_play import nolimit, random_action

MANUAL = {Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.RUNOUT_COUNT_SELECTION}
AUTOMATIONS = tuple(automation for automation in Automation if automation not in MANUAL)


def pokerkit_state(rules: Rules) -> State:
    blinds = rules.blinds[::-1] if rules.num_players == 2 else rules.blinds
    return NoLimitTexasHoldem.create_state(
        AUTOMATIONS, True, 0, blinds, rules.big_blind, rules.stacks, rules.num_players, mode=Mode.TOURNAMENT
    )


def deal_known_cards(other: State, state: HandState) -> None:
    rules = state.rules
    while other.can_deal_hole():
        player = other.hole_dealee_index
        other.deal_hole(rules.card_text(state.hole_cards[player][len(other.hole_cards[player])]))
    while other.can_deal_board():
        dealt = sum(len(cards) for cards in other.board_cards)
        other.deal_board(rules.cards_text(state.runout[dealt : dealt + other.street.board_dealing_count]))


def replay_one_hand(num_players: int, rng: random.Random, cards: np.random.Generator) -> None:
    ranges = [(1, 300), (50, 1000), (100, 20000)]
    state = HandState.deal(nolimit(tuple(rng.randint(*rng.choice(ranges)) for _ in range(num_players))), cards)
    other = pokerkit_state(state.rules)
    deal_known_cards(other, state)
    while not state.is_over:
        player, legal, betting = state.to_act, state.legal(), state.betting
        where = (state.rules.stacks, betting.text())
        earlier = betting.committed[player] - other.bets[player]
        bounds = (other.min_completion_betting_or_raising_to_amount, other.max_completion_betting_or_raising_to_amount)
        theirs = (0, 0) if bounds[0] is None else (bounds[0] + earlier, bounds[1] + earlier)
        assert (other.actor_index, other.can_fold(), *theirs) == (player, legal.fold, *legal[2:]), where
        assert (other.checking_or_calling_amount, other.total_pot_amount) == (betting.to_call, betting.pot), where
        if not any(other.bets):
            assert [(pot.amount, pot.player_indices) for pot in other.pots] == state.pots(), where
        action = random_action(legal, rng)
        if action == FOLD:
            other.fold()
        elif action == CALL:
            other.check_or_call()
        else:
            other.complete_bet_or_raise_to(action - earlier)
        state = state.apply(action)
        deal_known_cards(other, state)
    where = (state.rules.stacks, state.betting.text(), state.hole_cards, state.runout)
    assert not other.status, where
    assert list(other.payoffs) == state.payoffs(), where


def replay(num_players: int, hands: int, seed: int) -> None:
    rng, cards = random.Random(seed), np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # PokerKit remarks that cards are not in its own deck order
        for _ in range(hands):
            replay_one_hand(num_players, rng, cards)


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_pokerkit_agrees(num_players: int) -> None:
    replay(num_players, 1000, seed=num_players)


@pytest.mark.slow
@pytest.mark.parametrize("num_players", [2, 6])
def test_pokerkit_agrees_on_20000_hands(num_players: int) -> None:
    replay(num_players, 20_000, seed=100 + num_players)
