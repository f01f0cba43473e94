"""Hand histories in the text of partypoker and 888: invented hands in the shapes of public samples."""

from poker.formats.histories import PARTY, format_of
from tests.formats.samples import read_all, sample

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
