"""Hand histories in PokerStars' text: posts, rakes, mucked hands, tournaments, noise, and what is refused by line."""

import re

import pytest

from poker.formats import phh, phh_read
from poker.formats.played import LineError, PlayedHand
from poker.formats.pokerstars import hand_text
from poker.formats.pokerstars_read import hands, parse_hand
from tests.formats.pokerkit_hands import assert_same_hand

CASH = """\
PokerStars Zoom Hand #164181769033:  Hold'em No Limit (€0.50/€1.00 EUR) - 2017/01/07 9:48:34 UTC [2017/01/07 4:48:34 ET]
Table 'Halley 40-100 bb' 6-max Seat #2 is the button
Seat 1: Zoë: x (€103.50 in chips)
Seat 2: Bob (the 2nd) (€40 in chips)
Seat 3: sits out (€99 in chips) is sitting out
Seat 4: Bob (€1,000.25 in chips)
Seat 5: d'Arc (€12.75 in chips)
Seat 6: new one (€50 in chips)
Bob: posts small blind €0.50
d'Arc: posts big blind €1
new one: posts small & big blinds €1.50
sits out: is sitting out
nobody joins the table at seat #7
*** HOLE CARDS ***
Dealt to Bob [Ah Kd]
Zoë: x has timed out
Zoë: x: folds
Bob said, "raises $5 to $6 : folds"
new one: checks
Zoë: x is disconnected
"""


def read(text: str) -> PlayedHand:
    [(line, lines)] = hands(text)
    return parse_hand(lines, line)


def refused(text: str) -> str:
    with pytest.raises(LineError) as caught:
        read(text)
    return f"{caught.value.line}: {caught.value}"


ORDER = """\
PokerStars Hand #1:  Hold'em No Limit ($0.50/$1.00 USD) - 2012/05/03 12:34:56 ET
Table 'Ann' 6-max Seat #6 is the button
Seat 1: Ann ($30 in chips)
Seat 2: Ben C ($20.50 in chips)
Seat 4: Cy: x ($5 in chips)
Seat 5: Dan ($40 in chips) is sitting out
Seat 6: Eve ($100 in chips)
Ann: posts small blind $0.50
Ben C: posts big blind $1
Cy: x: posts small & big blinds $1.50
*** HOLE CARDS ***
Dealt to Ann [Ah Kd]
Cy: x: checks
Eve: raises $2 to $3
Eve said, "Ann: folds"
Ann: calls $2.50
Ben C: folds
Cy: x: calls $1.50 and is all-in
*** FLOP *** [2c 7d Kh]
Ann: bets $4
Eve: calls $4
*** TURN *** [2c 7d Kh] [7s]
Ann: checks
Eve has timed out
Eve: checks
*** RIVER *** [2c 7d Kh 7s] [3h]
Ann: bets $10
Eve: folds
Uncalled bet ($10) returned to Ann
Ann collected $7.60 from side pot
Ann: shows [Ah Kd] (two pair, Kings and Sevens)
Cy: x: shows [7c 6c] (three of a kind, Sevens)
Cy: x collected $11.00 from main pot
Dan leaves the table
*** SUMMARY ***
Total pot $19.50 Main pot $11.00. Side pot $7.60. | Rake $0.90
Board [2c 7d Kh 7s 3h]
Seat 1: Ann (small blind) showed [Ah Kd] and won ($7.60) with two pair, Kings and Sevens
Seat 2: Ben C (big blind) folded before Flop
Seat 4: Cy: x showed [7c 6c] and won ($11.00) with three of a kind, Sevens
Seat 6: Eve (button) folded on the River
"""


def test_posts_side_pots_rake_and_noise() -> None:
    """Cy's small blind is dead: 50 cents of the main pot of 4 x 3 - 2 + 0.50, which is all there was to win for $5."""
    hand = read(ORDER)
    assert hand.number == 1
    assert hand.names == ("Ann", "Ben C", "Cy: x", "Eve")
    assert hand.scale == 100
    assert hand.rules.blinds == (50, 100, 100, 0)
    assert hand.rules.forced_chips.dead == (0, 0, 50, 0)
    assert hand.rules.starting_stacks == (3000, 2050, 500, 10000)
    assert hand.state.betting.text() == "cr300cfc/r700c/cc/r1700f"
    assert hand.rake == 90
    assert hand.details["table"] == "Ann"
    assert (hand.details["year"], hand.details["currency"]) == (2012, "USD")
    assert hand.collected == [760, 0, 1100, 0]
    assert sum(hand.payoffs) == -90
