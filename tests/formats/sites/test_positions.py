"""Invented hands in the shapes of public reports and samples: nets and positions; partypoker, 888 and Winamax."""

import pytest

from poker.formats.histories import PARTY, PHH, WINAMAX, format_of, hand_texts
from tests.cases import table
from tests.formats.samples import read, read_all, refused, sample

HANDS = table(__file__, "HANDS")
"""Name, position and net of each player, in the order of the rules."""


@pytest.mark.parametrize("name", HANDS)
def test_nets_and_positions(name: str) -> None:
    hands = read_all(sample(name))
    for each in (hands, read_all("".join(hand_texts(PHH, hands)))):
        nets = [[f"{round(net) / hand.scale:.9g}" for net in hand.payoffs] for hand in each]
        rows = [zip(hand.names, hand.rules.positions, net, strict=True) for hand, net in zip(each, nets, strict=True)]
        assert [", ".join(map(" ".join, row)) for row in rows] == HANDS[name]


def test_lines_of_errors_count_from_the_start_of_a_file_of_two_sites() -> None:
    assert refused(sample("two_sites").replace("Raises $19 to $20", "Raises $18 to $20")).startswith("26: ")


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


CASH = sample("winamax_cash")
BET = sample("winamax_bet")
TOURNAMENT = sample("winamax_tournament")


def test_cash_games_and_tournaments_are_read_and_played() -> None:
    assert format_of(CASH, "x") == WINAMAX
    cash, bet, tournament = read_all(CASH + BET + TOURNAMENT)
    assert cash.names == ("Dot", "Ed", "Ann", "Ben C", "Cy")
    assert (cash.payoffs, cash.rake, cash.rules.min_bet) == ((-2, -295, -60, 315, 0), 42, 5)
    assert (bet.names, bet.payoffs, bet.rake) == (("Ben", "Ann"), (696, -800), 104)
    assert (tournament.names, tournament.payoffs) == (("Cy", "Ann", "Ben"), (-870, 920, -50))
    assert (tournament.scale, tournament.rules.min_bet) == (1, 400)
    assert str(tournament.details["time"]) == "17:10:11"


def test_a_small_blind_out_of_position_is_dead() -> None:
    text = CASH.replace("Ann posts big", "Ann posts small blind 0.02€ out of position\nAnn posts big")
    text = text.replace("6.10€", "6.12€")
    hand = read(text)
    assert (hand.payoffs, hand.rake) == ((-2, -295, -62, 317, 0), 42)


def test_raises_over_an_all_in_blind_count_from_it() -> None:
    text = TOURNAMENT.replace("Ann (870", "Ann (169").replace("blind 400", "blind 119 and is all-in")
    text = text.replace("raises 960 to 1360", "raises 1241 to 1360").replace("Ann calls 420 and is all-in\n", "")
    text = text.replace("Cy collected 540 from side pot 1", "Cy collected 1241 from side pot 1").replace("1790", "388")
    hand = read(text.replace("Total pot 2330", "Total pot 1629"))
    assert hand.payoffs == (-169, 219, -50)
