import random
from typing import Any

import numpy as np
import pytest

from poker.formats.played import table_rules
from poker.game.rules import CALL
from poker.game.state import DealError, HandState, Pot, showdown_ranks
from tests.cases import cases, table
from tests.games import load_rules as game
from tests.random_play import GAMES, nolimit, pokerkit_pays, random_action


def play(state: HandState, text: str) -> HandState:
    for token in text.replace("/", " ").split():
        state = state.apply(state.betting.parse_action(token))
    return state


def deal(stacks: tuple[int, ...], hands: str, board: str) -> HandState:
    rules = nolimit(stacks)
    return HandState.start(rules, [rules.parse_cards(hand) for hand in hands.split()], rules.parse_cards(board))


@cases
def test_pots_go_to_their_contributors_and_odd_chips_to_the_first_seats(
    stacks: tuple[int, ...], hands: str, text: str, pots: tuple[Pot, ...], payoffs: tuple[int, ...]
) -> None:
    state = play(deal(stacks, hands, "2h3d8h9sJs"), text)
    assert tuple(state.pots()) == pots
    assert tuple(state.payoffs()) == payoffs


def test_dead_chips_are_in_the_main_pot_alone() -> None:
    """Players 0 and 2 lose a dead blind of 5 each beside the side pot of 140 that player 1 cannot win."""
    rules = table_rules(blinds=(5, 10, 0), starting_stacks=(105, 30, 105), min_bet=10, first_to_act=2, dead=(5, 0, 5))
    hands = map(rules.parse_cards, ("KsKh", "AsAh", "QsQh"))
    state = play(HandState.start(rules, hands, rules.parse_cards("2h3d8h9sJs")), "r100 c c")
    assert state.pots() == [Pot(100, (0, 1, 2)), Pot(140, (0, 2))]
    assert state.payoffs() == [35, 70, -105]


def test_odd_chips_may_be_divided() -> None:
    state = play(deal((1000,) * 3, "AsKh AdKc 7c2d", "2h3d8h9sJs"), "r201 c c / c r302 f c / c c / c c")
    assert state.divided_payoffs() == [100.5, 100.5, -201]


def test_odd_chips_divided_as_the_dealer_of_the_competition_does() -> None:
    """Three split the main pot of 560, to which a player who folds later has paid; two of them a side pot of 380."""
    state = deal((1000, 140, 1000, 1000), "AsKh AdKc AcKd 7c2d", "2h3d8h9sJs")
    state = play(state, "r200 c c c / c c c / r300 c f / c c")
    assert state.pots() == [Pot(560, (0, 1, 2)), Pot(380, (0, 2))]
    third = 560 / 3
    assert state.divided_payoffs() == pytest.approx([third - 110, third - 140, third - 110, -200])


def test_each_pot_is_split_by_itself() -> None:
    """TDA rule 21: 183 as 92 and 91, 105 as 53 and 52, 240 even, though players 1 and 4 win all three; PokerKit 0.7.7
    puts them together and pays 64 to both."""
    rules = table_rules(
        blinds=(3, 6, 0, 0, 0, 0), starting_stacks=(200, 200, 45, 80, 200, 200), min_bet=6, first_to_act=2
    )
    hands = map(rules.parse_cards, ("8c3s", "AhJd", "QsTs", "9s9d", "AdJh", "7c7d"))
    state = play(HandState.start(rules, hands, rules.parse_cards("AsJc4d8h3c")), "r45 r80 r200 f f c")
    assert [pot.amount for pot in state.pots()] == [183, 105, 240]
    assert state.payoffs() == [-3, 65, -45, -80, 63, 0]
    assert pokerkit_pays([-3, 64, -45, -80, 64, 0], state)


@cases
def test_small_games_pair_beats_high_card(name: str, hands: str, board: str, winner: int) -> None:
    rules = game(name)
    first, second = showdown_ranks(rules, [rules.parse_cards(hand) for hand in hands.split()], rules.parse_cards(board))
    assert {0: first > second, 1: first < second, -1: first == second}[winner]


def test_few_cards_order() -> None:
    rules = nolimit((100, 100))
    ranks = []
    for hand, board in table(__file__, "hands in order"):
        ranks += showdown_ranks(rules, [rules.parse_cards(hand)], rules.parse_cards(board))
    assert ranks == sorted(set(ranks))


@pytest.mark.parametrize("name", GAMES)
def test_payoffs_sum_to_zero_and_views_hide(name: str) -> None:
    rules = game(name)
    generator = np.random.default_rng(3)
    rng = random.Random(3)
    for _ in range(50):
        state = HandState.deal(rules, generator)
        while not state.is_over:
            view = state.view(state.to_act)
            assert view.hole_cards[state.to_act] == state.hole_cards[state.to_act]
            assert sum(len(hand) for hand in view.hole_cards) == rules.num_hole_cards
            assert view.runout == state.board == state.runout[: rules.board_sizes[state.street]]
            assert view.legal() == state.legal()
            state = state.apply(random_action(state.legal(), rng))
        assert sum(state.payoffs()) == 0
        revealed = [i for i, hand in enumerate(state.view(0).hole_cards) if hand]
        live = [i for i in range(rules.num_players) if not state.betting.folded[i]]
        assert revealed == (sorted({0, *live}) if state.betting.is_showdown else [0])


def test_same_seed_same_deal() -> None:
    rules = game("holdem_nolimit_6p")
    assert HandState.deal(rules, np.random.default_rng(5)) == HandState.deal(rules, np.random.default_rng(5))
    assert HandState.deal(rules, np.random.default_rng(5)) != HandState.deal(rules, np.random.default_rng(6))


@cases
def test_impossible_cards_are_refused(hands: Any, board: tuple[int, ...], message: str) -> None:
    with pytest.raises(DealError, match=message):
        HandState.start(nolimit((1000, 1000)), hands, board)


def test_payoffs_need_the_end_of_the_hand_and_its_cards() -> None:
    hidden = HandState.start(nolimit((1000, 1000)), ((0, 1), ()), ())
    with pytest.raises(DealError, match="when the hand is over"):
        hidden.payoffs()
    for _ in range(8):
        hidden = hidden.apply(CALL)
    with pytest.raises(DealError, match="the showdown needs"):
        hidden.payoffs()
