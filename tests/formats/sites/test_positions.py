"""Invented hands in the shapes of public reports and samples: nets and positions; partypoker, 888 and Winamax."""

import pytest

from poker.formats.histories import PARTY, PHH, WINAMAX, format_of, hand_texts
from tests.formats.samples import read, read_all, refused, sample

HANDS = {
    "ignition_lines_in_table_order": ["Hero SB -250, Big Blind BB -100, UTG CO 350, Dealer BTN 0"],
    "ignition_registration_numbers": ["Small Blind SB -50, Big Blind BB -100, Hero CO 150, Dealer BTN 0"],
    "pokerstars_dead_small_blind": ["P3 BB -1, P4 HJ 0, P5 CO 0, P1 BTN 1"],
    "two_sites": ["P2 BB 0.5, P1 BTN -0.5", "Hero BB 1, Dealer BTN -1"],
    "partypoker_2026": ["P1 SB -0.1, Hero BB -0.75, P3 BTN 0.85"],
    "partypoker_side_pots": ["P2 SB 18.5, P3 BB 38.5, P1 BTN -60"],
    "ggpoker_blinds_below_the_header": ["bb000002 SB -360, Hero BB 360, aa000001 BTN 0"],
    "ggpoker_turn_in_another_order": ["bb000002 BB -1000, aa000001 BTN 1000"],
}
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
