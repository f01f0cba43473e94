"""Hand histories in PokerStars' text: posts, rakes, mucked hands, tournaments, noise, and what is refused by line."""

import time
from dataclasses import replace

import pytest

from poker.formats import phh, phh_read
from poker.formats.played import LineError, payoffs_by_rules
from poker.formats.sites.pokerstars import hand_text
from poker.game.state import Legal
from poker.run.errors import PokernetsError
from tests.formats.pokerkit_hands import assert_same_hand
from tests.formats.samples import read, refused, sample

CASH = sample("pokerstars_cash")


def test_posts_side_pots_rake_and_noise() -> None:
    """Cy's small blind is dead: 50 cents of the main pot of 3 x 3 + 1 + 0.50."""
    hand = read(CASH)
    assert hand.number == 1
    assert hand.names == ("Ann", "Ben C", "Cy: x", "Eve")
    assert hand.scale == 100
    assert hand.rules.blinds == (50, 100, 100, 0)
    assert hand.rules.forced_chips.dead == (0, 0, 50, 0)
    assert hand.rules.starting_stacks == (3000, 2050, 350, 10000)
    assert hand.state.betting.text() == "cr300cfc/r700c/cc/r1700f"
    assert hand.rake == 90
    assert hand.details["table"] == "Ann"
    assert (hand.details["year"], hand.details["currency"]) == (2012, "USD")
    assert hand.collected == [760, 0, 1000, 0]
    assert sum(hand.payoffs) == -90
    assert_same_hand(read(hand_text(hand)), hand)
    text = phh.hand_text(hand)
    assert_same_hand(phh_read.parse_hand(text, 0), hand)
    assert_same_hand(read(hand_text(phh_read.parse_hand(text, 0))), hand)
    with pytest.raises(LineError, match="1740 chips collected and a rake of 90"):
        phh_read.parse_hand(text.replace("7.60", "7.40"), 0)
    text = text.replace("_rake", "_fee")
    assert_same_hand(phh_read.parse_hand(text, 0), hand)
    by_rules = phh_read.parse_hand(text.replace("winnings", "_won"), 0)
    assert (by_rules.rake, by_rules.payoffs) == (0, tuple(payoffs_by_rules(hand.state, hand.mucked)))


TOURNAMENT = sample("pokerstars_tournament")


def test_a_tournament_with_short_antes_and_a_short_blind() -> None:
    """The whole blind is called though the big blind is all-in for half of it; a player all-in with less than the ante
    wins as much from each. The small blind could not post anything."""
    hand = read(TOURNAMENT)
    assert hand.names == ("short", "away", "hero")
    assert hand.rules.forced_chips.antes == (3, 5, 5)
    assert (hand.rules.opening, hand.rules.min_bet) == (40, 40)
    assert list(hand.payoffs) == [2, 23, -25]
    assert hand.mucked == {2}
    assert hand.rules.cards_text(hand.state.hole_cards[2]) == "JsJd"
    assert hand.details["event"] == "Tournament #2288022169, $4.79+$4.79+$0.42 USD"
    again = read(hand_text(hand))
    assert_same_hand(again, hand)
    assert again.details["event"] == hand.details["event"]
    with pytest.raises(PokernetsError, match="the whole blind was called"):
        phh.hand_text(hand)


ALL_IN = sample("pokerstars_all_in")
ON_ANTE, SHORT_BLIND = sample("pokerstars_all_in_on_ante"), sample("pokerstars_all_in_short_blind")


@pytest.mark.parametrize(
    ("text", "player", "payoffs"),
    [(ALL_IN, "Bob", [-80, 80, 0]), (ON_ANTE, "Bob", [-5, 15, -10]), (SHORT_BLIND, "Sue", [-30, 30, 0])],
    ids=["small blind", "ante", "big blind"],
)
def test_last_player_with_chips_may_check_or_skip_the_action(text: str, player: str, payoffs: list[int]) -> None:
    hand = read(text)
    assert list(hand.payoffs) == payoffs
    assert hand_text(hand).count("checks") == 0
    assert_same_hand(read(text.replace("Uncalled", f"{player}: checks\nUncalled")), hand)
    assert_same_hand(read(hand_text(hand)), hand)
    assert_same_hand(phh_read.parse_hand(phh.hand_text(hand), 0), hand)


LIMIT = sample("pokerstars_limit")


def test_limit_heads_up_and_an_old_header() -> None:
    hand = read(LIMIT)
    assert hand.names == ("B", "A")
    assert hand.rules.raise_sizes == (50, 50, 100, 100)
    assert list(hand.payoffs) == [-250, 225]
    assert_same_hand(read(hand_text(hand)), hand)


WHOLE = sample("pokerstars_whole")


def test_whole_amounts_of_money_stay_money_by_way_of_phh() -> None:
    hand = phh_read.parse_hand(phh.hand_text(read(WHOLE)), 0)
    text = hand_text(hand)
    assert "Hold'em No Limit ($1/$2 USD)" in text
    assert "Ben ($200 in chips)" in text
    assert_same_hand(read(text), read(WHOLE))
    assert "(1/2 USD)" in hand_text(replace(hand, details={"currency": "USD"}))
    assert "(1/2)" in hand_text(replace(hand, details={"currency_symbol": "1 (", "currency": "tokens"}))


def test_phh_stores_a_rake_in_cents_of_whole_amounts() -> None:
    raked = WHOLE.replace("collected $4", "collected $3.90").replace("Rake $0", "Rake $0.10")
    assert_same_hand(phh_read.parse_hand(phh.hand_text(read(raked)), 0), read(raked))


def test_a_river_may_repeat_the_cards_street_by_street() -> None:
    text = CASH.replace("[2c 7d Kh 7s] [3h]", "[2c 7d Kh] [7s] [3h]")
    assert text != CASH
    assert read(text) == read(CASH)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("6-max Seat #6 is the button", "6-max" + " (a)" * 200 + " x", "2: the line of the table does not name"),
        (" | Rake $0.90", " | a bb 1" * 100 + "x", "36: "),
        ("Eve has timed out", "Eve: [" + "x" * 1000, "24: a line of 1,006 characters"),
    ],
)
def test_no_line_takes_long_to_be_refused(old: str, new: str, why: str) -> None:
    start = time.process_time()
    assert refused(CASH.replace(old, new, 1)).startswith(why)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("lines", range(1, 33))
def test_cut_off(lines: int) -> None:
    assert refused("\n".join(CASH.split("\n")[:lines]))


REOPENED = sample("pokerstars_reopened")


def test_a_raise_at_a_table_where_a_short_all_in_reopened_the_betting_is_read() -> None:
    """Our rules allow the limper only a call or a fold; the raise that was made is read, and written again."""
    hand = read(REOPENED)
    assert list(hand.payoffs) == [-100, -300, 700, -300]
    assert_same_hand(read(hand_text(hand)), hand)
    before, _, action = list(hand.state.betting.turns())[-2]
    assert action == 1200
    assert before.legal() == Legal(fold=True, call=True, min_raise=0, max_raise=0)
