"""Pot odds, equity and SPR of a decision, and what an all-in wins on average."""

from dataclasses import replace

import pytest

from poker.game.betting import Betting
from poker.game.odds import all_in_winnings, pot_odds
from poker.game.rules import Rules
from poker.game.state import HandState
from tests.cases import cases
from tests.games import load_rules


def state(rules: Rules, betting: str, hand: str, board: str = "") -> HandState:
    at = Betting.parse(rules, betting)
    cards = [rules.parse_cards(hand) if seat == at.to_act else () for seat in range(rules.num_players)]
    return HandState.at(at, cards, rules.parse_cards(board))


TWO, SIX = load_rules("holdem_nolimit_2p"), load_rules("holdem_nolimit_6p")
SHORT = replace(TWO, stacks=(1000, 20000))
UNEQUAL = replace(SIX, stacks=(10000, 10000, 500, 3000, 10000, 10000))
TABLES = {"TWO": TWO, "SIX": SIX, "SHORT": SHORT, "UNEQUAL": UNEQUAL}


@cases
def test_the_price_of_a_call(table: str, betting: str, to_call: int, to_win: int, behind: tuple[int, int]) -> None:
    """`behind`: the chips that are left and the pot."""
    board = "Ks9d4c" if "/" in betting else ""
    odds = pot_odds(state(TABLES[table], betting, "AhAd", board))
    assert (odds.to_call, odds.to_win) == (to_call, to_win)
    assert odds.needed == to_call / (to_call + to_win)
    assert odds.spr == pytest.approx(behind[0] / behind[1])


@cases
def test_equity_against_random_hands(
    table: str, betting: str, hand: str, board: str, opponents: int, equity: float
) -> None:
    """All-in equities of pairs and of 32o agree with printed tables."""
    odds = pot_odds(state(TABLES[table], betting, hand, board))
    assert odds.opponents == opponents
    assert odds.equity == pytest.approx(equity, abs=0.012)
    assert odds == pot_odds(state(TABLES[table], betting, hand, board))


def test_small_games_have_no_equity_of_hold_em() -> None:
    assert pot_odds(state(load_rules("leduc"), "c", "Kh")).equity is None


@cases
def test_all_in_wins_the_equity_of_its_pots(
    table: str, betting: str, hands: tuple[str, ...], board: str, winnings: tuple[float, ...] | None
) -> None:
    """Outs are counted by hand: of 44 rivers after a turn, of 990 turns and rivers after a flop."""
    rules = TABLES[table]
    state = HandState.at(Betting.parse(rules, betting), map(rules.parse_cards, hands), rules.parse_cards(board))
    mean = all_in_winnings(state)
    assert mean == (None if winnings is None else pytest.approx(winnings))
    assert mean is None or sum(mean) == pytest.approx(sum(pot.amount for pot in state.pots()))
