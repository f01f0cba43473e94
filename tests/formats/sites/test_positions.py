"""Nets and positions of invented hands in the shapes of public reports, known from each player's lines and labels."""

import pytest

from poker.formats.histories import PHH, hand_texts
from tests.formats.samples import read_all, refused, sample

HANDS = {
    "ignition_lines_in_table_order": ["Hero SB -250, Big Blind BB -100, UTG CO 350, Dealer BTN 0"],
    "ignition_registration_numbers": ["Small Blind SB -50, Big Blind BB -100, Hero CO 150, Dealer BTN 0"],
    "pokerstars_dead_small_blind": ["P3 BB -1, P4 HJ 0, P5 CO 0, P1 BTN 1"],
    "two_sites": ["P2 BB 0.5, P1 BTN -0.5", "Hero BB 1, Dealer BTN -1"],
    "partypoker_2026": ["P1 SB -0.1, Hero BB -0.75, P3 BTN 0.85"],
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
