"""The hand that a player holds, as inputs beside the 19: for nets that say what is done with which hands."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import hand_features
from poker.game.cards import HAND_CARDS, HOLDEM, NO_CARD, CanonicalBoard, hand_index
from poker.kernels.types import Board, Floats, Reals, Singles
from poker.run.errors import PokernetsError

NAMES = ("hs", "ehs", "ehs2", "ppot", "npot", "share_weaker", "pair", "suited", "high", "low")
SIZE = len(NAMES)


def shares_below(values: Reals) -> Floats:
    """[n] share of the values below each, plus half of those equal to it."""
    rising = np.sort(values)
    below, through = np.searchsorted(rising, values, "left"), np.searchsorted(rising, values, "right")
    return np.asarray((below + through) / (2 * len(values)))


def held_inputs(board: Board) -> Singles:
    """[1326, 10] inputs of all hands on a board; 0 for hands that it rules out."""
    features, live = hand_features(board), HOLDEM.live(board)
    weaker = np.zeros(len(live))
    weaker[live] = shares_below(features.ehs.round(9)[live])
    rank, suit = HAND_CARDS // 4, HAND_CARDS % 4
    cards = rank[:, 0] == rank[:, 1], suit[:, 0] == suit[:, 1], rank.max(axis=1) / 12, rank.min(axis=1) / 12
    columns = features.hs, features.ehs, features.ehs2, features.ppot, features.npot, weaker, *cards
    return np.where(live[:, None], np.stack(columns, axis=1), 0.0).astype(np.float32)


def held_rows(columns: Mapping[str, NDArray[Any]]) -> Singles:
    """[n, 10] inputs of the rows of `poker.opponents.inputs.rows`, whose cards are all known."""
    held, boards = columns["held"].astype(np.int64), columns["board"]
    if (held == NO_CARD).any():
        raise PokernetsError(
            "the net reads the cards held, which these rows do not have: hands of Bovada or self-play do"
        )
    alike: defaultdict[Board, list[tuple[int, int]]] = defaultdict(list)
    for row, (board, cards) in enumerate(zip(boards.tolist(), held.tolist(), strict=True)):
        public = CanonicalBoard.of(tuple(card for card in board if card != NO_CARD))
        alike[public.cards].append((row, public.hand(hand_index(*cards))))
    inputs = np.empty((len(held), SIZE), dtype=np.float32)
    for cards, there in alike.items():
        rows, hands = np.array(there).T
        inputs[rows] = held_inputs(cards)[hands]
    return inputs
