"""Random hands replayed in PokerKit and in OpenSpiel's universal_poker: legal actions, pots and payoffs are equal."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pokerkit import Automation, FixedLimitTexasHoldem, Mode, NoLimitTexasHoldem, State

from poker.agents.foreign.openspiel import UniversalPoker
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import Betting, HandState, Legal
from tests.games import load_rules
from tests.random_play import nolimit, pokerkit_pays, posted_is_called, random_action, random_hand

MANUAL = {Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.RUNOUT_COUNT_SELECTION}
AUTOMATIONS = tuple(automation for automation in Automation if automation not in MANUAL)


def pokerkit_state(rules: Rules) -> State:
    blinds = rules.blinds[::-1] if rules.num_players == 2 else rules.blinds
    if rules.is_limit:
        small, big = rules.raise_sizes[0], rules.raise_sizes[-1]
        return FixedLimitTexasHoldem.create_state(
            AUTOMATIONS, True, 0, blinds, small, big, rules.stacks, rules.num_players, mode=Mode.TOURNAMENT
        )
    return NoLimitTexasHoldem.create_state(
        AUTOMATIONS, True, 0, blinds, rules.big_blind, rules.stacks, rules.num_players, mode=Mode.TOURNAMENT
    )


def deal_known_cards(other: State, state: HandState) -> None:
    rules = state.rules
    while other.can_deal_hole():
        player = other.hole_dealee_index
        assert player is not None
        other.deal_hole(rules.card_text(state.hole_cards[player][len(other.hole_cards[player])]))
    while other.can_deal_board():
        assert other.street is not None
        dealt = sum(len(cards) for cards in other.board_cards)
        other.deal_board(rules.cards_text(state.runout[dealt : dealt + other.street.board_dealing_count]))


def allowed_raises(other: State, acted: set[int]) -> tuple[int, int]:
    """The least and the most total of the street that the player to act may raise to, 0 and 0 where none: PokerKit's
    answer, put right where 0.7.7 departs from TDA rule 47. `acted` have acted on this street.

    It allows a raise after a short all-in that is below the big blind, and forbids one to a player who faces a full
    raise and a short one after it.
    """
    player, street = other.actor_index, other.street
    assert player is not None
    assert street is not None
    least = other.min_completion_betting_or_raising_to_amount
    most = other.max_completion_betting_or_raising_to_amount
    full = max(other.completion_betting_or_raising_amount, street.min_completion_betting_or_raising_amount)
    highest, stack = max(other.bets), other.bets[player] + other.stacks[player]
    faces = highest - other.bets[player]
    if player in acted and 0 < faces < full:
        return 0, 0
    if player in acted and least is None and faces >= full and 0 < sum(other.consecutive_short_all_in_amounts) < full:
        beyond = any(
            other.statuses[i] and other.bets[i] + other.stacks[i] > highest for i in other.player_indices if i != player
        )
        return (min(highest + full, stack), stack) if beyond and stack > highest else (0, 0)
    return (0, 0) if least is None or most is None else (least, most)


def play_beside(state: HandState, other: State, choose: Callable[[Legal], int], compare_legality: bool) -> bool:
    """Plays `choose` from the start of a hand in both, compares every decision and pot, and says if both pay alike."""
    deal_known_cards(other, state)
    while not state.is_over:
        player, legal, betting = state.to_act, state.legal(), state.betting
        where = (state.rules.stacks, betting.text())
        earlier = betting.committed[player] - other.bets[player]
        assert (other.actor_index, other.can_fold()) == (player, legal.fold), where
        assert (other.checking_or_calling_amount, other.total_pot_amount) == (betting.to_call, betting.pot), where
        if compare_legality:
            allowed = allowed_raises(other, set(betting.actors[-1]))
            assert tuple(total + earlier if total else 0 for total in allowed) == legal[2:], where
            if other.min_completion_betting_or_raising_to_amount is None:
                legal = legal._replace(min_raise=0, max_raise=0)
        if not any(other.bets):
            assert [(pot.amount, pot.player_indices) for pot in other.pots] == state.pots(), where
        action = choose(legal)
        if action == FOLD:
            other.fold()
        elif action == CALL:
            other.check_or_call()
        else:
            other.complete_bet_or_raise_to(action - earlier)
        state = state.apply(action)
        deal_known_cards(other, state)
    assert not other.status
    return pokerkit_pays(other.payoffs, state)


def replay_in_pokerkit(end: HandState) -> bool:
    """Whether PokerKit agrees on a finished hand; its cap of preflop raises in limit games is another one."""
    rules = end.rules
    actions = iter(end.betting.line)
    return play_beside(
        HandState.start(rules, end.hole_cards, end.runout),
        pokerkit_state(rules),
        lambda legal: next(actions),
        not rules.is_limit,
    )


def test_pokerkit_reopens_the_betting_after_an_all_in_below_the_big_blind() -> None:
    """Blinds of 1 and 2: a limp, an all-in of 3, a fold, a call; PokerKit 0.7.7 lets the limper raise to 5 or more."""
    rules = nolimit((200, 200, 200, 3), 2)
    other = pokerkit_state(rules)
    for _ in range(8):
        other.deal_hole("??")
    other.check_or_call()
    other.complete_bet_or_raise_to(3)
    other.fold()
    other.check_or_call()
    assert (other.actor_index, other.min_completion_betting_or_raising_to_amount) == (2, 5)
    assert allowed_raises(other, {1, 2, 3}) == (0, 0)
    assert Betting.parse(rules, "cr3fc").legal() == Legal(fold=True, call=True, min_raise=0, max_raise=0)


STACK = st.integers(1, 300) | st.integers(50, 1000) | st.integers(100, 20_000)


@settings(max_examples=600, deadline=None)
@given(st.lists(STACK, min_size=2, max_size=6), st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_pokerkit_agrees(stacks: list[int], deal: int, rng: random.Random) -> None:
    """Legal actions, side pots and payoffs of hands with any stacks."""
    start = HandState.deal(posted_is_called(nolimit(tuple(stacks))), np.random.default_rng(deal))
    assert play_beside(start, pokerkit_state(start.rules), lambda legal: random_action(legal, rng), True)


@pytest.mark.parametrize("name", ["holdem_limit_2p", "holdem_limit_3p"])
def test_pokerkit_agrees_on_limit_hands(name: str) -> None:
    rules, rng, cards = load_rules(name), random.Random(1), np.random.default_rng(1)
    assert all(replay_in_pokerkit(random_hand(rules, cards, rng)[-1]) for _ in range(100))


LIMIT_GAMES = ["kuhn", "leduc", "holdem_limit_2p", "holdem_limit_3p"]
NOLIMIT_GAMES = ["holdem_nolimit_2p", "flop_holdem_nolimit"]


def play_one_hand(poker: UniversalPoker, rng: random.Random, cards: np.random.Generator) -> bool:
    """Plays a random hand in both and compares every decision; whether both pay alike."""
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
    return np.allclose(state.payoffs(), other.returns(), rtol=0, atol=fraction)


@pytest.mark.parametrize(
    ("name", "hands"), [*((name, 500) for name in LIMIT_GAMES), *((name, 30) for name in NOLIMIT_GAMES)]
)
def test_universal_poker_agrees(name: str, hands: int) -> None:
    poker = UniversalPoker(load_rules(name))
    rng, cards = random.Random(1), np.random.default_rng(1)
    assert all(play_one_hand(poker, rng, cards) for _ in range(hands))


def test_the_dealer_of_the_acpc_has_rules_of_its_own_for_different_stacks() -> None:
    """Short all-ins of three and four players: 24 games of the code that universal_poker embeds."""
    rng, cards = random.Random(3), np.random.default_rng(3)
    for players in (3, 4) * 12:
        ours = nolimit(tuple(rng.randint(10, rng.choice((25, 60))) for _ in range(players)), 10)
        poker = UniversalPoker(Rules.from_acpc(ours.to_acpc()))
        assert all(play_one_hand(poker, rng, cards) for _ in range(20))
