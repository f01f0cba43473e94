"""How much a net weighs beside a player's own counts, for each share of the players."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from models.opponent.data import OpponentRows
from models.opponent.nets import CLASSES
from poker.kernels.types import Floats, Reals
from poker.opponents.inputs.frequencies import WEIGHTS, by_weight, share_of_weights
from poker.opponents.model import RAISE_CLASS

STEPS = 100
"""Steps of expectation maximisation."""
EARLY = 250
"""Hands of a player from which it is learned what a net weighs beside counts."""


def with_counts(prior: Reals, rows: OpponentRows, seen: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Probabilities [n, W, 3] of `prior` [n, 3] and the player's earlier actions in the spot together, for each weight
    of the prior, and log-likelihoods [n, W] of the actions that were taken."""
    player, action, spot = (rows.columns[name][seen].tolist() for name in ("player", "action", "spot"))
    counts: defaultdict[tuple[int, int], Floats] = defaultdict(lambda: np.zeros(CLASSES))
    probs, likely = np.empty((len(seen), len(WEIGHTS), CLASSES)), np.empty((len(seen), len(WEIGHTS)))
    for row, (key, done) in enumerate(zip(zip(player, spot, strict=True), action, strict=True)):
        kind = min(done, RAISE_CLASS)
        probs[row] = by_weight(counts[key], prior[row])
        likely[row] = probs[row, :, kind]
        counts[key][kind] += 1
    return probs, np.log(likely)


def shares_of_weights(prior: Reals, rows: OpponentRows, seen: NDArray[np.int64]) -> Floats:
    """Learn for which share of players each of `WEIGHTS` [W] suits `prior` [n, 3] best, by expectation maximisation
    over their first hands in the rows `seen` [n], where a prior matters."""
    early = hands_before(rows.columns["player"], rows.columns["hand"])[seen] < EARLY
    _, likely = with_counts(prior, rows, seen)
    explained = np.zeros((len(rows.names), len(WEIGHTS)))
    np.add.at(explained, rows.columns["player"][seen][early], likely[early])
    explained, shares = explained[explained.any(axis=1)], np.full(len(WEIGHTS), 1 / len(WEIGHTS))
    for _ in range(STEPS):
        shares = share_of_weights(shares, explained).mean(axis=0)
    return shares


def hands_before(player: NDArray[np.int32], hand: NDArray[np.int32]) -> NDArray[np.int64]:
    """Count the hands [n] in which the player of each row was seen before the hand of the row."""
    order = np.lexsort((hand, player))
    ordered, dealt = player[order], hand[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    numbers = np.cumsum(starts | np.concatenate([[True], dealt[1:] != dealt[:-1]]))
    first = np.maximum.accumulate(np.where(starts, numbers, 0))
    before = np.empty(len(player), np.int64)
    before[order] = numbers - first
    return before
