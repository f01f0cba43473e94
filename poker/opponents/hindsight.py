"""Replays hands whose cards were shown in the end, to measure an onlooker's weight tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.cards import HOLDEM, hand_index
from poker.formats.irc_replay import IrcHand
from poker.opponents.tracker import Tracker


@dataclass(frozen=True, eq=False)
class RoundEnd:
    """The end of a round of betting: its board, and the table [1326] of each player who showed."""

    street: int
    board: tuple[int, ...]
    tables: dict[int, NDArray[np.float32]]

    def gain(self, hand: IrcHand) -> float:
        """log p(cards held) - log(1 / possible hands), in nats, the mean over the players."""
        live = HOLDEM.live(self.board)
        total = 0.0
        for player, weights in self.tables.items():
            weight = float(weights[hand_index(*hand.hole_cards[player])])
            total += float(np.log(weight / weights[live].sum(dtype=np.float64)) + np.log(live.sum()))
        return total / len(self.tables)


def replay_hand(tracker: Tracker, hand: IrcHand, measured: bool) -> list[RoundEnd]:
    """Learns from one hand; where it is `measured`, keeps tables of the players who showed, and learns their cards."""
    shown = [i for i, cards in enumerate(hand.hole_cards) if cards] if measured else []
    tracker.begin(len(hand.names), hand.names)
    street = 0
    board: tuple[int, ...] = ()
    ends: list[RoundEnd] = []

    def note() -> None:
        if shown:
            ends.append(RoundEnd(street, board, dict(zip(shown, tracker.tables(shown), strict=True))))

    for state, move in hand.states():
        if state.street > street:
            note()
            street = state.street
        board = state.board
        if move.player == state.to_act:
            tracker.observe(state.betting, board, move.action, reweight=move.player in shown and not move.left)
    note()
    if shown:
        tracker.conclude(hand.hole_cards)
    return ends


def _is_shown(hand: IrcHand) -> bool:
    return any(hand.hole_cards) and len(hand.board) == 5


def up_to(archive: Iterable[IrcHand], hands: int | None) -> Iterator[tuple[IrcHand, bool]]:
    """Hands up to the one that is number `hands` with cards shown, and whether each is measured."""
    left = hands
    for hand in archive:
        is_shown = _is_shown(hand)
        yield hand, is_shown
        if left is not None and is_shown:
            left -= 1
            if not left:
                return


def evenly(archive: Sequence[IrcHand], hands: int | None) -> list[tuple[IrcHand, bool]]:
    """All hands, and whether each is measured: `hands` with cards shown, evenly spread."""
    shown = [number for number, hand in enumerate(archive) if _is_shown(hand)]
    some = shown if hands is None else [shown[i * len(shown) // hands] for i in range(min(hands, len(shown)))]
    measured = set(some)
    return [(hand, number in measured) for number, hand in enumerate(archive)]
