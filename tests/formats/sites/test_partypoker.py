"""Hand histories in the text of partypoker and 888: invented hands in the shapes of public samples."""

import pytest

from poker.formats.histories import PARTY, format_of
from tests.formats.samples import assert_refused, read_all, sample

PARTYPOKER = sample("partypoker")
EIGHTS = sample("888poker")


def test_hands_are_read_and_played() -> None:
    assert format_of(PARTYPOKER, "x") == PARTY
    party, eights = read_all(PARTYPOKER + EIGHTS)
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
    assert_refused(EIGHTS, old, new, why)
