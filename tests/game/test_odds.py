"""Pot odds, equity and SPR of a decision."""

from dataclasses import replace

import pytest

from poker.game.betting import Betting
from poker.game.odds import pot_odds
from poker.game.rules import Rules
from poker.game.state import HandState
from tests.games import load_rules


def state(rules: Rules, betting: str, hand: str, board: str = "") -> HandState:
    at = Betting.parse(rules, betting)
    cards = [rules.parse_cards(hand) if seat == at.to_act else () for seat in range(rules.num_players)]
    return HandState.at(at, cards, rules.parse_cards(board))


TWO, SIX = load_rules("holdem_nolimit_2p"), load_rules("holdem_nolimit_6p")
SHORT = replace(TWO, stacks=(1000, 20000))
UNEQUAL = replace(SIX, stacks=(10000, 10000, 500, 3000, 10000, 10000))


@pytest.mark.parametrize(
    ("rules", "betting", "to_call", "to_win", "spr"),
    [
        (TWO, "r300", 200, 400, 19700 / 600),
        (TWO, "r300c/", 0, 600, 19700 / 600),
        (TWO, "r300c/r600", 300, 900, 19400 / 1200),
        (TWO, "r300c/r20000", 19700, 20300, 0.0),
        (SHORT, "r20000", 900, 1100, 0.0),  # 19,000 come back
        (UNEQUAL, "r500r3000", 3000, 500 + 3000 + 150, 7000 / 6650),
    ],
)
def test_the_price_of_a_call(rules: Rules, betting: str, to_call: int, to_win: int, spr: float) -> None:
    board = "Ks9d4c" if "/" in betting else ""
    odds = pot_odds(state(rules, betting, "AhAd", board))
    assert (odds.to_call, odds.to_win) == (to_call, to_win)
    assert odds.needed == to_call / (to_call + to_win)
    assert odds.spr == pytest.approx(spr)


@pytest.mark.parametrize(
    ("rules", "betting", "hand", "board", "opponents", "equity"),
    [
        (TWO, "c", "AhAd", "", 1, 0.8520),
        (TWO, "c", "3h2d", "", 1, 0.3230),
        (SIX, "ffff", "AhAd", "", 1, 0.8520),
        (SIX, "fffc", "AhAd", "", 2, 0.7342),
        (TWO, "cc/cc/cc/", "AhKh", "QhJhTh3c2d", 1, 1.0),
        (TWO, "cc/cc/cc/", "3s2c", "AhKhQhJhTh", 1, 0.5),
    ],
)
def test_equity_against_random_hands(
    rules: Rules, betting: str, hand: str, board: str, opponents: int, equity: float
) -> None:
    """All-in equities of pairs and of 32o are those of the tables in print."""
    odds = pot_odds(state(rules, betting, hand, board))
    assert odds.opponents == opponents
    assert odds.equity == pytest.approx(equity, abs=0.012)
    assert odds == pot_odds(state(rules, betting, hand, board))


def test_small_games_have_no_equity_of_hold_em() -> None:
    assert pot_odds(state(load_rules("leduc"), "c", "Kh")).equity is None
