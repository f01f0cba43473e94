"""Hand histories in the text of Bovada and its sister sites: invented hands, and 13,816 of a public archive."""

import re
from decimal import Decimal

import pytest

from poker.formats.histories import BOVADA, format_of, hands_of
from tests.cases import cases
from tests.formats.samples import archived, read, sample

CASH = sample("bovada_cash")
WALK = sample("bovada_walk")
TOURNAMENT = sample("bovada_tournament")
POST = sample("bovada_post")
LABELS = {"Small Blind": "SB", "Big Blind": "BB", "Dealer": "BTN"}


def test_a_hand_with_all_cards_is_read_and_played() -> None:
    hand = read(CASH)
    assert format_of(CASH, "x") == BOVADA
    assert hand.names == ("Small Blind", "Big Blind", "UTG", "Hero")
    assert (hand.number, hand.payoffs, hand.rake) == (31, (-120, -25, 0, 133), 12)
    assert [hand.rules.cards_text(cards) for cards in hand.state.hole_cards] == ["AcKh", "6sQc", "2h2d", "9c9s"]
    assert (hand.rules.blinds, hand.rules.min_bet, hand.rules.stacks) == ((10, 25, 0, 0), 25, (120, 2260, 1000, 2650))
    assert hand.state.betting.text() == "fr75r120fc///"
    assert hand.details["table"] == "77"
    assert (hand.details["year"], str(hand.details["time"])) == (2019, "13:47:54")


def test_winnings_after_a_walk_include_the_uncalled_blind() -> None:
    hand = read(WALK)
    assert hand.names == ("Small Blind", "Hero", "UTG")
    assert (hand.payoffs, hand.rake) == ((-2, 2, 0), 0)


@cases
def test_posts_of_new_players_are_live_and_dead(post: str, won: str, payoffs: tuple[int, ...], rake: int) -> None:
    hand = read(POST.format(post, won))
    assert (hand.rules.blinds, hand.payoffs, hand.rake) == ((10, 25, 25), payoffs, rake)


def test_a_big_blind_that_is_all_in_for_less_is_still_called_whole() -> None:
    text = sample("bovada_short_blind")
    board = "*** FLOP *** [2c 7c 3d]\n{0}*** TURN *** [2c 7c 3d] [9h]\n{0}*** RIVER *** [2c 7c 3d 9h] [Kd]\n{0}"
    checks = board.format("Small Blind : Checks\nDealer : Checks\n")
    hand = read(text.format("Calls $0.25", f"Small Blind : Calls $0.15\n{checks}", "0.60"))
    assert (hand.rules.min_bet, hand.rules.opening, hand.payoffs, hand.rake) == (25, 25, (-25, -12, 35), 2)
    hand = read(text.format("Raises $0.75 to $0.75", f"Small Blind : Calls $0.65\n{checks}", "1.55"))
    assert (hand.rules.opening, hand.payoffs, hand.rake) == (0, (-75, -12, 80), 7)


def test_tournaments_have_chips_antes_and_stakes_of_their_level() -> None:
    hand = read(TOURNAMENT)
    assert hand.names == ("Big Blind", "Dealer")
    assert (hand.scale, hand.rules.min_bet, hand.payoffs, hand.rake) == (1, 30, (100, -100), 0)
    assert hand.mucked == {1}
    assert hand.details["venue"] == "Bodog Canada"


def test_pot_limit_has_its_name() -> None:
    hand = read(CASH.replace("No Limit", "Pot Limit"))
    assert hand.rules.name == "pot-limit hold'em"


_PUT = re.compile(
    r"(?:Small Blind|Big blind|Posts chip|Posts dead chip|Calls|Bets|Raises|All-in|All-in\(raise\)) \$([\d.]+)"
)


def amounts_in(block: str) -> tuple[dict[str, Decimal], Decimal, Decimal]:
    """Net result by seat, rake and pots: sums of the text's amounts alone."""
    seats = dict(re.findall(r"^Seat (\d+): (.*?)(?: \[ME\])? \(", block, re.MULTILINE))
    net, pots = dict.fromkeys(seats, Decimal(0)), Decimal(0)
    for seat, position in seats.items():
        for line in re.findall(rf"^{re.escape(position)}(?:  \[ME\])? : (.*?) *$", block, re.MULTILINE):
            if put := _PUT.match(line):
                net[seat] -= Decimal(put[1])
                pots += Decimal(put[1])
            elif got := re.match(
                r"(?:Return uncalled portion of bet|Hand result|Hand result-Side pot) \$([\d.]+)", line
            ):
                net[seat] += Decimal(got[1])
                pots -= Decimal(got[1]) * line.startswith("Return")
    total = re.search(r"^Total Pot\(\$([\d.]+)\)", block, re.MULTILINE)
    assert total is None or Decimal(total[1]) == pots
    return net, -sum(net.values(), Decimal(0)), pots


def agree_with_their_texts(text: str) -> tuple[int, list[str]]:
    """Number of hands read, and why others are not; checks results, rake and pots of each against its text."""
    refused: list[str] = []
    read = {hand.number: hand for hand in hands_of(text, "x", refused=lambda error: refused.append(error.reason))}
    blocks = re.split(r"\n(?=Bovada Hand #)", text)
    assert len(blocks) == len(read) + len(refused)
    for block in blocks:
        hand = read.get(int(block.split("#")[1].split()[0]))
        if hand is not None:
            net, rake, pots = amounts_in(block)
            seats = hand.details["seats"]
            assert isinstance(seats, list)
            payoffs = dict(zip(map(str, seats), hand.payoffs, strict=True))
            assert all(100 * chips == payoffs.get(seat, 0) for seat, chips in net.items())
            assert hand.rake == 100 * rake
            assert sum(hand.paid) == 100 * pots or "Return uncalled" not in block
            assert all(hand.state.hole_cards)
            assert all(LABELS.get(name, at) == at for name, at in zip(hand.names, hand.rules.positions, strict=True))
    return len(read), refused


def test_a_thousand_archived_hands_agree_with_their_texts() -> None:
    text = archived("bovada")
    read, refused = agree_with_their_texts(text[: text.index("\n\n\nBovada Hand", 1_300_000)])
    assert (read > 900, refused) == (True, [])


@pytest.mark.slow
def test_all_archived_hands_agree_with_their_texts() -> None:
    assert agree_with_their_texts(archived("bovada")) == (13_816, [])
