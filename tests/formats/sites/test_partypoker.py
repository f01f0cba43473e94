"""Hand histories in the text of partypoker and 888: invented hands in the shapes of public samples."""

import random
import re
from pathlib import Path

import pytest

from poker.formats.histories import PARTY, format_of
from poker.formats.played import LineError, PlayedHand
from poker.formats.sites.partypoker import PartyLines, hands
from tests.formats.test_histories import broken, first_error

PARTYPOKER = """\
Game #11 starts.

#Game No : 11
***** Hand History for Game 11 *****
€25 EUR NL Texas Hold'em - Friday, December 30, 20:52:00 CET 2011
Table Elm 6 (Real Money)
Seat 4 is the button
Total number of players : 4/6
Seat 4: Dan ( €1,033.43 EUR )
Seat 1: Ann ( €25.28 EUR )
Seat 2: Ben ( €8 EUR )
seat 3: Cy ( €20,35 )
Ann posts small blind [€0.10 EUR].
Ben posts big blind [€0.25 EUR].
Cy posts big blind + dead [0,35 €].
** Dealing down cards **
Dealt to Ann [  Jh Jc ]
Cy checks
Dan folds
Ann raises [ €0.90 EUR ]
Ben will be using their time bank for this hand.
Ben calls [€0.75 EUR]
Cy folds
** Dealing Flop ** [ 5s, Jd, 7c ]
Ann checks
Ben is all-In  [€7 EUR]
Ann is all-In  [€24.28 EUR]
** Dealing Turn ** [ 4d ]
** Dealing River ** [ 7d ]
Ben doesn't show [ 5d, 5h ]a full house, Fives full of Sevens.
Ann shows [ Jh, Jc ]a full house, Jacks full of Sevens.
Ann wins €17.28 EUR from the side pot 1 with a full house.
Ann wins €15.70 EUR from the main pot with a full house.
"""

EIGHTS = """
***** 888poker Hand History for Game 12 *****
$0.50/$1 Blinds No Limit Holdem - *** 30 05 2012 19:28:19
Table Elm 6 Max (Real Money)
Seat 6 is the button
Total number of players : 3
Seat 6: Ann ( $1 099.41 )
Seat 7: Ben ( $100.50 )
Seat 9: Cy ( $103.81 )
Ben posts small blind [$0.50]
Cy posts big blind [$1]
Ann posts dead blind [$0.50 + $1]
** Dealing down cards **
Ann raises [$3]
Ben raises [$10.50]
Cy folds
Ann calls [$7]
** Dealing flop ** [ Jc, 3s, 8d ]
Ben bets [$22.50]
Ann folds
** Summary **
Ben did not show his hand
Ben collected [ $22.30 ]
"""


def read(text: str) -> list[PlayedHand]:
    return [PartyLines.parse(lines, line) for line, lines in hands(text)]


def test_hands_are_read_and_played() -> None:
    assert format_of(PARTYPOKER, "x") == PARTY
    party, eights = read(PARTYPOKER + EIGHTS)
    assert party.names == ("Ann", "Ben", "Cy", "Dan")
    assert (party.payoffs, party.rake) == ((770, -800, -35, 0), 65)
    assert (party.rules.blinds, party.rules.min_bet) == ((10, 25, 25, 0), 25)
    assert party.rules.starting_stacks == (2528, 800, 2035, 103343)
    assert party.mucked == {1}
    assert eights.names == ("Ben", "Cy", "Ann")
    assert (eights.payoffs, eights.rake) == ((1130, -100, -1150), 120)
    assert (eights.details["venue"], eights.details["year"], eights.details["table"]) == ("888poker", 2012, "Elm 6 Max")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("No Limit Holdem", "Pot Limit Omaha", "3: .*is not read, only no-limit and pot-limit hold'em"),
        ("calls [$7]", "calls [$6.99]", "17: Ann calls 699 chips where a call costs 700"),
        ("collected [ $22.30 ]", "collected [ $12 ]", "1200 chips of a pot of 2350 are won"),
        ("collected [ $22.30 ]", "collected [ $24 ]", "2400 chips of a pot of 2350 are won|a total pot of 2400"),
        ("bets [$22.50]", "bets [$22.5055]", "19: .* is no amount"),
        ("Ben collected [ $22.30 ]", "", "the hand ends without a winner"),
        ("Jc, 3s", "Bc, 3s", "18: .*not a card"),
    ],
)
def test_what_is_wrong_is_told_by_line(old: str, new: str, why: str) -> None:
    assert old in EIGHTS
    with pytest.raises(LineError) as caught:
        read(EIGHTS.replace(old, new, 1))
    assert re.search(why, f"{caught.value.line}: {caught.value}"), f"{caught.value.line}: {caught.value}"


def test_broken_files_are_refused_by_line(tmp_path: Path) -> None:
    data, rng, errors = (PARTYPOKER + EIGHTS).encode(), random.Random(7), 0
    for _ in range(200):
        (tmp_path / "x").write_bytes(broken(data, rng))
        error = first_error(tmp_path / "x")
        errors += error is not None and error.line >= 1
    assert errors > 50
