"""Hands of every site with one thing wrong: refused by its line."""

import pytest

from tests.formats.samples import assert_refused, sample

WRONG = {
    "bovada_cash": [
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
    "888poker": [
        ("No Limit Holdem", "Pot Limit Omaha", "3: .*is not read, only no-limit and pot-limit hold'em"),
        ("calls [$7]", "calls [$6.99]", "17: Ann calls 699 chips where a call costs 700"),
        ("collected [ $22.30 ]", "collected [ $12 ]", "1200 chips of a pot of 2350 are won"),
        ("collected [ $22.30 ]", "collected [ $24 ]", "2400 chips of a pot of 2350 are won|a total pot of 2400"),
        ("bets [$22.50]", "bets [$22.5055]", "19: .* is no amount"),
        ("Ben collected [ $22.30 ]", "", "the hand ends without a winner"),
        ("Jc, 3s", "Bc, 3s", "18: .*not a card"),
    ],
    "winamax_cash": [
        ("Holdem no", "Omaha pot", "1: `Omaha pot limit` is not read"),
        ("(0.02€/0.05€)", "()", "1: the header has no stakes"),
        ("calls 1.30€", "calls 1.29€", "25: Ed calls 129 chips where a call costs 130"),
        ("raises 0.90€ to", "raises 0.91€ to", "24: a raise by 91 to 130"),
        ("Total pot 6.10€", "Total pot 6.11€", "36: a total pot of 653 chips, but 652 were bet"),
        ("Total pot 6.10€ | Rake 0.42€", "", "the hand ends without a summary of the total pot"),
    ],
    "pokerstars_cash": [
        ("Hold'em No Limit", "Omaha Pot Limit", "1: Omaha is not read"),
        ("Hold'em No Limit", "Hold'em Half Limit", "1: the header does not say whether"),
        ("Hold'em No Limit", "6+ Hold'em No Limit", r"1: 6\+ Hold'em is not read"),
        ("($0.50/$1.00 USD)", "($0.50 USD)", "1: the header has no stakes"),
        ("*** FLOP ***", "*** SECOND FLOP ***", "19: a second board while there is betting is not read"),
        ("Board [", "Board [2c 7d Kh 7s 3h]\nSECOND Board [", "36: the board of the summary is not the one dealt"),
        ("Seat #6 is the button", "", "2: the line of the table does not say"),
        ("Seat 2: Ben C ($20.50", "Seat 1: Ben C ($20.50", "4: seat 1 or player Ben C is there twice"),
        ("posts big blind $1", "posts big blind $1.10", "9: a big blind of 110 chips where the header says 100"),
        ("Ben C: posts big", "Ben D: posts big", "9: `Ben D: posts big blind .1` is no action of a player with a seat"),
        ("calls $2.50", "calls $2.40", "16: Ann calls 240 chips where a call costs 250"),
        ("raises $2 to $3", "raises $2 to $4", "14: a raise by 200 to 400 of a bet of 100"),
        ("raises $2 to $3", "raises $0.50 to $1.50", "14: illegal action"),
        ("Eve has timed out", "Dan: shows [2s 2h]", "24: Dan neither posts nor acts in this hand"),
        ("Seat 6: Eve (b", "Seat 5: Dan folded before Flop\nSeat 6: Eve (b", "41: Dan neither posts nor acts"),
        ("Seat 6: Eve (b", "Seat 5: Dan mucked [2s 2h]\nSeat 6: Eve (b", "41: Dan neither posts nor acts"),
        ("calls $4", "calls $4 and is all-in", "21: Eve is not all-in: 9300 chips are left"),
        ("Eve: checks", "Ann: checks", "25: Ann acts where it is the turn of Eve"),
        ("Ann: bets $4", "Ann: bet $4", "21: Eve acts where it is the turn of Ann"),
        ("Ann: bets $4", "Ann: bets four", "20: `bets four` is no action"),
        ("[2c 7d Kh] [7s]", "[2c 7d Kd] [7s]", "22: the cards of the turn do not continue"),
        ("[7s]", "[Kh]", "26: the cards of the river do not continue"),
        ("Uncalled bet ($10)", "Uncalled bet ($9)", "29: the bet that nobody called is one of 1000 chips"),
        ("Total pot $18.50", "Total pot $18.60", "36: a total pot of 1860 chips, but 1850 were bet"),
        ("Rake $0.90", "Rake $0.80", "36: 1760 chips collected and a rake of 80"),
        ("Ann collected $7.60", "Eve collected $7.60", "36: Ann collected 0 chips, but won 800 before the rake"),
        ("shows [Ah Kd]", "shows [Ah Kc]", "31: Ann has other cards than before"),
        ("Board [2c 7d Kh 7s 3h]", "Board [2c 7d Kh 7s 4h]", "36: the board of the summary is not the one dealt"),
    ],
    "pokerstars_twice": [
        ("*** SECOND TURN *** [2s 8s 3d] [Ah]\n", "", "cards of the river do not continue|20: "),
        ("*** SECOND RIVER *** [2s 8s 3d Ah] [Th]\n", "", "are not all there"),
        ("[2s 8s 3d Ah] [Th]", "[2s 8s 3d Ah] [Kc]", "dealt twice"),
        ("[2s 8s 3d Ah] [Th]", "[2s 8s 3d Ah] [Qc]", "dealt twice"),
        ("SECOND Board [2s 8s 3d Ah Th]", "SECOND Board [2s 8s 3d Ah Td]", "the board of the summary"),
        ("FIRST Board [2s 8s 3d Jd Kc]", "FIRST Board [Jd Kc]", "the board of the summary"),
        ("Cy collected $29", "Bob collected $29", "Cy collected|Bob collected"),
        ("*** FLOP ***", "*** SECOND FLOP ***", "12: a second board while there is betting"),
        ("[2s 8s 3d] [Ah]", "", "19: no cards of the second turn"),
    ],
}


@pytest.mark.parametrize(
    ("name", "old", "new", "why"), [(name, *change) for name, changes in WRONG.items() for change in changes]
)
def test_what_is_wrong_is_told_by_line(name: str, old: str, new: str, why: str) -> None:
    assert_refused(sample(name), old, new, why)
