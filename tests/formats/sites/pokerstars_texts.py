"""Hands in PokerStars' text, and how they are read."""

import pytest

from poker.formats.histories import hands_of, text_of
from poker.formats.played import HistoryError, PlayedHand


def read_all(data: str | bytes) -> list[PlayedHand]:
    return list(hands_of(text_of(data.encode() if isinstance(data, str) else data), "x.txt"))


def read(text: str) -> PlayedHand:
    [hand] = read_all(text)
    return hand


def won(hand: PlayedHand) -> dict[str, int]:
    """Net chips by name."""
    return {name: round(net) for name, net in zip(hand.names, hand.payoffs, strict=True)}


def refused(text: str) -> str:
    with pytest.raises(HistoryError) as caught:
        read_all(text)
    return f"{caught.value.line}: {caught.value.reason}"


WALK = """\
PokerStars Hand #7:  Hold'em No Limit ($0.25/$0.50 USD) - 2021/07/30 6:02:58 ET
Table 'Delta' 6-max Seat #1 is the button
Seat 1: Zoë ($20 in chips)
Seat 2: Ben ($50 in chips)
Zoë: posts small blind $0.25
Ben: posts big blind $0.50
*** HOLE CARDS ***
Zoë: folds
Uncalled bet ($0.25) returned to Ben
Ben collected $0.50 from pot
*** SUMMARY ***
Total pot $0.50 | Rake $0
Seat 1: Zoë (button) (small blind) folded before Flop
Seat 2: Ben (big blind) collected ($0.50)
"""

RUN_IT_ONCE = """\
Run It Once Poker Hand #30:  Hold'em No Limit (€0.05/€0.10) - 2019/06/25 15:55 UTC [2019/06/25 16:55 CET]
Table ID '302' 6-Max Seat #1 is the button
Seat 1: Ann (€10 in chips)
Seat 3: Bob (€10 in chips) [hero]
Seat 6: Cy (€10 in chips)
Bob: posts small blind €0.05
Cy: posts big blind €0.10
*** HOLE CARDS ***
Dealt to Ann [6c 7d]
Dealt to Bob [Ad Qd]
Dealt to Cy [2s 7c]
Ann: folds
Bob: raises €0.35 to €0.45
Cy: calls €0.35
*** FLOP *** [Qs Kd 5c]
Bob: checks
Cy: checks
*** TURN *** [Qs Kd 5c] [4h]
Bob: checks
Cy: checks
*** RIVER *** [Qs Kd 5c 4h] [3h]
Bob: checks
Cy: checks
*** SHOWDOWN ***
Bob shows [Ad Qd] for Pair [Ad Kd Qs Qd 5c]
Bob collected €0.76 from pot
*** SUMMARY ***
Total pot €0.90 | Main pot €0.60 | Side pot €0.30 | Rake €0.14
Board [Qs Kd 5c 4h 3h]
Seat 6: Cy (big blind) mucked [2s 7c] and lost
Seat 1: Ann (button) folded before Flop
Seat 3: Bob (small blind) showed [Ad Qd] and won €0.76 with Pair of Q and A K 5
"""
