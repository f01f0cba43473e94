"""Hand histories in the text of Bovada and its sister sites: invented hands, and 13,816 of a public archive."""

import random
import re
import tarfile
from decimal import Decimal
from pathlib import Path

import pytest

from poker.formats.histories import BOVADA, format_of, hands_of
from poker.formats.played import LineError, PlayedHand
from poker.formats.sites.bovada import BovadaLines, hands
from tests.formats.test_histories import broken, first_error
from tests.games import CONF

ARCHIVE = CONF.parents[1] / "shared" / "data" / "nolimit_hands.tar.xz"

CASH = """\
Bovada Hand #31 TBL#77 HOLDEM No Limit - 2019-04-04 13:47:54
Seat 1: UTG ($10 in chips)
Seat 2: Dealer [ME] ($26.50 in chips)
Seat 4: Small Blind ($1.20 in chips)
Seat 6: Big Blind ($22.60 in chips)
Dealer  [ME] : Set dealer [2] \n\
Small Blind : Small Blind $0.10 \n\
Big Blind : Big blind $0.25 \n\
*** HOLE CARDS ***
UTG : Card dealt to a spot [2h 2d] \n\
Dealer  [ME] : Card dealt to a spot [9c 9s] \n\
Small Blind : Card dealt to a spot [Ac Kh] \n\
Big Blind : Card dealt to a spot [6s Qc] \n\
UTG : Folds
UTG : Leave(Auto)
Dealer  [ME] : Raises $0.75 to $0.75
Small Blind : All-in(raise) $1.10 to $1.20
Big Blind : Folds (timeout)
Dealer  [ME] : Calls $0.45 \n\
*** FLOP *** [2c 7c 3d]
*** TURN *** [2c 7c 3d] [9h]
*** RIVER *** [2c 7c 3d 9h] [Kd]
Small Blind : Showdown [Kh Kd Ac 9h 7c] (One pair)
Dealer  [ME] : Showdown [9h 9c 9s Kd 7c] (Three of a kind)
Dealer  [ME] : Hand result $2.53 \n\
Table deposit $1.20 \n\
*** SUMMARY ***
Total Pot($2.65)
Board [2c 7c 3d 9h Kd]
Seat+1: UTG Folded before the FLOP
Seat+2: Dealer $2.53  with Three of a kind [9c 9s-9h 9c 9s Kd 7c]  \n\

"""

WALK = """
Ignition Hand #32  Zone Poker ID#9 HOLDEMZonePoker No Limit - 2019-04-04 13:48:00
Seat 2: Small Blind ($8 in chips)
Seat 3: Big Blind [ME] ($5 in chips)
Seat 5: UTG ($4 in chips)
Set dealer
Small Blind : Small Blind $0.02
Big Blind [ME] : Big blind $0.05
*** HOLE CARDS ***
Small Blind : Card dealt to a spot [3c 7h]
Big Blind [ME] : Card dealt to a spot [Js Jc]
UTG : Card dealt to a spot [Ts 4c]
UTG : Folds (auth)
Small Blind : Folds & shows [3c 7h]
Big Blind [ME] : Showdown(High Card)
Big Blind [ME] : Hand result $0.07
Enter(Auto)
*** SUMMARY ***
"""

TOURNAMENT = """
Bodog Canada Hand #33: HOLDEM Tournament #18 TBL#1, Normal- Level 2 (15/30) - 2017-07-21 13:48:15
Seat 1: Dealer (1,500 in chips)
Seat 2: Big Blind (100 in chips)
Dealer : Ante chip 5
Big Blind : Ante chip 5
Dealer : Set dealer/Bring in spot [1]
Dealer : Ante/Small Blind 15
Big Blind : Big blind/Bring in 30
*** HOLE CARDS ***
Dealer : Card dealt to a spot [As Ad]
Big Blind : Card dealt to a spot [Ks Kd]
Dealer : Call 15
Big Blind : All-in(raise) 65 to 95
Dealer : Calls 65
*** FLOP *** [2c 7c 3d]
*** TURN *** [2c 7c 3d] [9h]
*** RIVER *** [2c 7c 3d 9h] [Kc]
Dealer : Mucks [As Ad] (One pair)
Big Blind : Showdown [Ks Kd Kc 9h 7c] (Three of a kind)
Big Blind : Hand result 200
*** SUMMARY ***
"""

POST = """Bovada Hand #34 TBL#1 HOLDEM No Limit - 2019-04-04 13:47:54
Seat 1: Small Blind ($5 in chips)
Seat 2: Big Blind ($5 in chips)
Seat 3: Dealer ($5 in chips)
Dealer : {}
Dealer : Set dealer [3]
Small Blind : Small Blind $0.10
Big Blind : Big blind $0.25
*** HOLE CARDS ***
Dealer : Checks
Small Blind : Calls $0.15
Big Blind : Checks
*** FLOP *** [2c 7c 3d]
Small Blind : Checks
Big Blind : Bets $0.50
Dealer : Folds
Small Blind : Folds
Big Blind : Return uncalled portion of bet $0.50
Big Blind : Hand result ${}
*** SUMMARY ***
"""


def read(text: str) -> list[PlayedHand]:
    return [BovadaLines.parse(lines, line) for line, lines in hands(text)]


def test_a_hand_with_all_cards_is_read_and_played() -> None:
    [hand] = read(CASH)
    assert format_of(CASH, "x") == BOVADA
    assert hand.names == ("Small Blind", "Big Blind", "UTG", "Hero")
    assert (hand.number, hand.payoffs, hand.rake) == (31, (-120, -25, 0, 133), 12)
    assert [hand.rules.cards_text(cards) for cards in hand.state.hole_cards] == ["AcKh", "6sQc", "2h2d", "9c9s"]
    assert (hand.rules.blinds, hand.rules.min_bet, hand.rules.stacks) == ((10, 25, 0, 0), 25, (120, 2260, 1000, 2650))
    assert hand.state.betting.text() == "fr75r120fc///"
    assert hand.details["table"] == "77"
    assert (hand.details["year"], str(hand.details["time"])) == (2019, "13:47:54")


def test_a_walk_counts_the_blind_that_nobody_called_among_what_is_won() -> None:
    [hand] = read(WALK)
    assert hand.names == ("Small Blind", "Hero", "UTG")
    assert (hand.payoffs, hand.rake) == ((-2, 2, 0), 0)


@pytest.mark.parametrize(
    ("post", "won", "payoffs", "rake"),
    [
        ("Posts chip $0.25", "0.72", (-25, 47, -25), 3),
        ("Posts dead chip $0.35", "0.81", (-25, 56, -35), 4),
        ("Posts chip $0.25\nDealer : Posts dead chip $0.10", "0.81", (-25, 56, -35), 4),
    ],
)
def test_posts_of_new_players_are_live_and_dead(post: str, won: str, payoffs: tuple[int, ...], rake: int) -> None:
    [hand] = read(POST.format(post, won))
    assert (hand.rules.blinds, hand.payoffs, hand.rake) == ((10, 25, 25), payoffs, rake)


def test_a_big_blind_that_is_all_in_for_less_is_still_called_whole() -> None:
    text = """Bovada Hand #35 TBL#1 HOLDEM No Limit - 2019-04-04 13:47:54
Seat 1: Small Blind ($5 in chips)
Seat 2: Big Blind ($0.12 in chips)
Seat 3: Dealer ($5 in chips)
Dealer : Set dealer [3]
Small Blind : Small Blind $0.10
Big Blind : Big blind $0.12
*** HOLE CARDS ***
Small Blind : Card dealt to a spot [Ac Kh]
Big Blind : Card dealt to a spot [6s Qc]
Dealer : Card dealt to a spot [9c 9s]
Dealer : {}
{}Small Blind : Showdown [Kh Kd Ac 9h 7c] (One pair)
Big Blind : Mucks [6s Qc] (High Card)
Dealer : Showdown [9h 9c 9s Kd 7c] (Three of a kind)
Dealer : Hand result ${}
*** SUMMARY ***
"""
    board = "*** FLOP *** [2c 7c 3d]\n{0}*** TURN *** [2c 7c 3d] [9h]\n{0}*** RIVER *** [2c 7c 3d 9h] [Kd]\n{0}"
    checks = board.format("Small Blind : Checks\nDealer : Checks\n")
    [hand] = read(text.format("Calls $0.25", f"Small Blind : Calls $0.15\n{checks}", "0.60"))
    assert (hand.rules.min_bet, hand.rules.opening, hand.payoffs, hand.rake) == (25, 25, (-25, -12, 35), 2)
    [hand] = read(text.format("Raises $0.75 to $0.75", f"Small Blind : Calls $0.65\n{checks}", "1.55"))
    assert (hand.rules.opening, hand.payoffs, hand.rake) == (0, (-75, -12, 80), 7)


def test_tournaments_have_chips_antes_and_stakes_of_their_level() -> None:
    [hand] = read(TOURNAMENT)
    assert hand.names == ("Big Blind", "Dealer")
    assert (hand.scale, hand.rules.min_bet, hand.payoffs, hand.rake) == (1, 30, (100, -100), 0)
    assert hand.mucked == {1}
    assert hand.details["venue"] == "Bodog Canada"


def test_pot_limit_has_its_name() -> None:
    [hand] = read(CASH.replace("No Limit", "Pot Limit"))
    assert hand.rules.name == "pot-limit hold'em"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("HOLDEM", "OMAHA", "1: a game that is not hold'em"),
        ("Calls $0.45", "Calls $0.40", "19: Hero calls 40 chips where a call costs 45"),
        ("to $1.20", "to $1.15", "17: 110 more chips make 120, not 115"),
        ("Small Blind : All-in", "UTG+1 : All-in", "17: .* no action of a player with a seat"),
        ("Folds (timeout)", "Folds away", "18: `Folds away` is no action"),
        ("result $2.53", "result $2.00", "28: 200 chips of a pot of 265 are won: the rest is no rake"),
        ("result $2.53", "result $2.70", "28: 270 chips of a pot of 265 are won: the rest is no rake"),
        ("Pot($2.65)", "Pot($2.66)", "28: a total pot of 266 chips, but 265 were bet"),
        ("Kd]\nSeat", "Kh]\nSeat", "the board of the summary is not the one dealt"),
        ("*** SUMMARY ***", "", "31: the hand ends without a summary"),
    ],
)
def test_what_is_wrong_is_told_by_line(old: str, new: str, why: str) -> None:
    assert old in CASH
    with pytest.raises(LineError) as caught:
        read(CASH.replace(old, new, 1))
    assert re.search(why, f"{caught.value.line}: {caught.value}"), f"{caught.value.line}: {caught.value}"


def test_broken_files_are_refused_by_line(tmp_path: Path) -> None:
    data, rng, errors = (CASH + WALK + TOURNAMENT).encode(), random.Random(7), 0
    for _ in range(200):
        (tmp_path / "x").write_bytes(broken(data, rng))
        error = first_error(tmp_path / "x")
        errors += error is not None and error.line >= 1
    assert errors > 50


_PUT = re.compile(
    r"(?:Small Blind|Big blind|Posts chip|Posts dead chip|Calls|Bets|Raises|All-in|All-in\(raise\)) \$([\d.]+)"
)


def told(block: str) -> tuple[dict[str, Decimal], Decimal, Decimal]:
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
            net, rake, pots = told(block)
            seats = hand.details["seats"]
            assert isinstance(seats, list)
            payoffs = dict(zip(map(str, seats), hand.payoffs, strict=True))
            assert all(100 * chips == payoffs.get(seat, 0) for seat, chips in net.items())
            assert hand.rake == 100 * rake
            assert sum(hand.paid) == 100 * pots or "Return uncalled" not in block
            assert all(hand.state.hole_cards)
    return len(read), refused


def archived() -> str:
    if not ARCHIVE.exists():
        pytest.skip(f"needs {ARCHIVE}")
    with tarfile.open(ARCHIVE) as archive:
        file = archive.extractfile("nolimit/bovada_2019_nl5_nl25_6max_all_cards.txt")
        assert file
        return file.read().decode()


def test_a_thousand_archived_hands_agree_with_their_texts() -> None:
    text = archived()
    read, refused = agree_with_their_texts(text[: text.index("\n\n\nBovada Hand", 1_300_000)])
    assert (read > 900, refused) == (True, [])


@pytest.mark.slow
def test_all_archived_hands_agree_with_their_texts() -> None:
    assert agree_with_their_texts(archived()) == (13_816, [])
