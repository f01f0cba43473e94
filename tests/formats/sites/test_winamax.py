"""Hand histories in the text of Winamax: invented hands in the shapes of public samples."""

import random
import re
from pathlib import Path

import pytest

from poker.formats.histories import WINAMAX, format_of
from poker.formats.played import LineError, PlayedHand
from poker.formats.sites.winamax import WinamaxLines, hands
from tests.formats.test_histories import broken, first_error

CASH = """\
Winamax Poker - CashGame - HandId: #323549-11-1286000000 - Holdem no limit (0.02€/0.05€) - 2010/10/02 10:00:00 UTC
Table: 'Elm' 9-max (real money) Seat #5 is the button
Seat 1: Ann (5€)
Seat 3: Ben C (4.93€)
Seat 4: Free ()
Seat 5: Cy (3.58€)
Seat 6: Dot (1.98€)
Seat 7: Ed (2.95€)
*** ANTE/BLINDS ***
Dot posts small blind 0.02€
Ed posts big blind 0.05€
Ann posts big blind 0.05€ out of position
Dealt to Ben C [8d 8h]
*** PRE-FLOP ***
Ann checks
Ben C raises 0.15€ to 0.20€
Cy folds
Dot folds
Ed calls 0.15€
Ann calls 0.15€
*** FLOP *** [Jd 9d 2s]
Ed checks
Ann bets 0.40€
Ben C raises 0.90€ to 1.30€
Ed calls 1.30€
Ann folds
*** TURN *** [Jd 9d 2s][Kh]
Ed bets 1.45€ and is all-in
Ben C calls 1.45€
*** RIVER *** [Jd 9d 2s Kh][8s]
*** SHOW DOWN ***
Ed shows [Jh 4s] (One pair : Jack)
Ben C shows [8d 8h] (Trips : 8)
Ben C collected 6.10€ from pot
*** SUMMARY ***
Total pot 6.10€ | Rake 0.42€
Board: [Jd 9d 2s Kh 8s]
Seat 3: Ben C showed [8d 8h] and won 6.10€ with Trips : 8
Seat 7: Ed (big blind) showed [Jh 4s] and lost with One pair : Jack
"""

BET = """
Winamax Poker - Go Fast "Elm" - HandId: #9434802-28434-1490719852 - Holdem no limit (2€/4€) - 2017/03/28 16:50:52 UTC
Table: 'Elm' 2-max (real money) Seat #1 is the button
Seat 1: Ann (402.96€)
Seat 2: Ben (400€)
*** ANTE/BLINDS ***
Ann posts small blind 2€
Ben posts big blind 4€
*** PRE-FLOP ***
Ann raises 4€ to 8€
Ben calls 4€
*** FLOP *** [Kc 2d 3d]
Ben bets 9.50€
Ann folds
Ben collected 24.46€ from pot
*** SUMMARY ***
Total pot 24.46€ | Rake 1.04€
Board: [Kc 2d 3d]
Seat 2: Ben (big blind) won 24.46€
"""

TOURNAMENT = """
Winamax Poker - Tournament "E" buyIn: 1€ level: 1 - HandId: #23-128-1653325811 - Holdem no limit (50/200/400) - \
2022/05/23 17:10:11 UTC
Table: 'ELM(548967895)#0037' 6-max (real money) Seat #2 is the button
Seat 1: Ann (870, 9€ bounty)
Seat 2: Ben (991, 22.5€ bounty)
Seat 3: Cy (1410, 9€ bounty)
*** ANTE/BLINDS ***
Cy posts ante 50
Ann posts ante 50
Ben posts ante 50
Cy posts small blind 200
Ann posts big blind 400
*** PRE-FLOP ***
Ben folds
Cy raises 960 to 1360 and is all-in
Ann calls 420 and is all-in
*** FLOP *** [As 9h Qc]
*** TURN *** [As 9h Qc][Kc]
*** RIVER *** [As 9h Qc Kc][3h]
*** SHOW DOWN ***
Cy shows [3d Tc] (One pair : 3)
Ann shows [Kh Ac] (Two pairs : Aces and Kings)
Cy collected 540 from side pot 1
Ann collected 1790 from main pot
*** SUMMARY ***
Total pot 2330 | No rake
Board: [As 9h Qc Kc 3h]
Seat 1: Ann (big blind) showed [Kh Ac] and won 1790 with Two pairs : Aces and Kings
"""


def read(text: str) -> list[PlayedHand]:
    return [WinamaxLines.parse(lines, line) for line, lines in hands(text)]


def test_cash_games_and_tournaments_are_read_and_played() -> None:
    assert format_of(CASH, "x") == WINAMAX
    cash, bet, tournament = read(CASH + BET + TOURNAMENT)
    assert cash.names == ("Dot", "Ed", "Ann", "Ben C", "Cy")
    assert (cash.payoffs, cash.rake, cash.rules.min_bet) == ((-2, -295, -60, 315, 0), 42, 5)
    assert (bet.names, bet.payoffs, bet.rake) == (("Ben", "Ann"), (696, -800), 104)
    assert (tournament.names, tournament.payoffs) == (("Cy", "Ann", "Ben"), (-870, 920, -50))
    assert (tournament.scale, tournament.rules.min_bet) == (1, 400)
    assert str(tournament.details["time"]) == "17:10:11"


def test_a_small_blind_out_of_position_is_dead() -> None:
    text = CASH.replace("Ann posts big", "Ann posts small blind 0.02€ out of position\nAnn posts big")
    text = text.replace("6.10€", "6.12€")
    [hand] = read(text)
    assert (hand.payoffs, hand.rake) == ((-2, -295, -62, 317, 0), 42)


def test_raises_over_an_all_in_blind_count_from_it() -> None:
    text = TOURNAMENT.replace("Ann (870", "Ann (169").replace("blind 400", "blind 119 and is all-in")
    text = text.replace("raises 960 to 1360", "raises 1241 to 1360").replace("Ann calls 420 and is all-in\n", "")
    text = text.replace("Cy collected 540 from side pot 1", "Cy collected 1241 from side pot 1").replace("1790", "388")
    [hand] = read(text.replace("Total pot 2330", "Total pot 1629"))
    assert hand.payoffs == (-169, 219, -50)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Holdem no", "Omaha pot", "1: `Omaha pot limit` is not read"),
        ("(0.02€/0.05€)", "()", "1: the header has no stakes"),
        ("calls 1.30€", "calls 1.29€", "25: Ed calls 129 chips where a call costs 130"),
        ("raises 0.90€ to", "raises 0.91€ to", "24: a raise by 91 to 130"),
        ("Total pot 6.10€", "Total pot 6.11€", "36: a total pot of 653 chips, but 652 were bet"),
        ("Total pot 6.10€ | Rake 0.42€", "", "the hand ends without a summary of the total pot"),
    ],
)
def test_what_is_wrong_is_told_by_line(old: str, new: str, why: str) -> None:
    assert old in CASH
    with pytest.raises(LineError) as caught:
        read(CASH.replace(old, new, 1))
    assert re.search(why, f"{caught.value.line}: {caught.value}"), f"{caught.value.line}: {caught.value}"


def test_broken_files_are_refused_by_line(tmp_path: Path) -> None:
    data, rng, errors = (CASH + BET + TOURNAMENT).encode(), random.Random(7), 0
    for _ in range(200):
        (tmp_path / "x").write_bytes(broken(data, rng))
        error = first_error(tmp_path / "x")
        errors += error is not None and error.line >= 1
    assert errors > 50
