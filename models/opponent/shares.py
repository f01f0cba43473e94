"""The weight of a net against a player's own counts, and the share of players for whom each weight fits best."""

from collections import defaultdict

import numpy as np

from models.opponent.data import OpponentRows
from models.opponent.nets import CLASSES
from poker.game.rules import RAISE_CLASS
from poker.kernels.types import I32, I64, Floats, Reals
from poker.opponents.inputs.frequencies import WEIGHTS, by_weight, share_of_weights

STEPS = 100
"""Steps of expectation maximisation."""
EARLY_HANDS = 250
"""Number of first hands of each player from which the weights are learned."""


def with_counts(prior: Reals, rows: OpponentRows, seen: I64) -> tuple[Floats, Floats]:
    """Combine a prior with the player's earlier actions in the same spot, for each weight of the prior.

    Args:
        prior: [n, 3] predictions of the net.
        rows: the observed decisions.
        seen: int64 [n] rows in order.

    Returns:
        Probabilities [n, W, 3] for each weight, and log-likelihoods [n, W] of the observed actions.
    """
    player, action, spot = (rows.columns[name][seen].tolist() for name in ("player", "action", "spot"))
    counts: defaultdict[tuple[int, int], Floats] = defaultdict(lambda: np.zeros(CLASSES))
    probs, likely = np.empty((len(seen), len(WEIGHTS), CLASSES)), np.empty((len(seen), len(WEIGHTS)))
    for row, (key, done) in enumerate(zip(zip(player, spot, strict=True), action, strict=True)):
        kind = min(done, RAISE_CLASS)
        probs[row] = by_weight(counts[key], prior[row])
        likely[row] = probs[row, :, kind]
        counts[key][kind] += 1
    return probs, np.log(likely)


def shares_of_weights(prior: Reals, rows: OpponentRows, seen: I64) -> Floats:
    """Learn the share of players for whom each weight fits best, by expectation maximisation.

    Only the first hands of each player are used, because a prior matters there.

    Args:
        prior: [n, 3] predictions of the net.
        rows: the observed decisions.
        seen: int64 [n] rows in order.

    Returns:
        float64 [W] share of the players for each of `WEIGHTS`.
    """
    early = hands_before(rows.columns["player"], rows.columns["hand"])[seen] < EARLY_HANDS
    _, likely = with_counts(prior, rows, seen)
    explained = np.zeros((len(rows.names), len(WEIGHTS)))
    np.add.at(explained, rows.columns["player"][seen][early], likely[early])
    explained, shares = explained[explained.any(axis=1)], np.full(len(WEIGHTS), 1 / len(WEIGHTS))
    for _ in range(STEPS):
        shares = share_of_weights(shares, explained).mean(axis=0)
    return shares


def hands_before(player: I32, hand: I32) -> I64:
    """Count the earlier hands of the player of each row.

    Args:
        player: int32 [n] player of each row.
        hand: int32 [n] hand of each row.

    Returns:
        int64 [n] number of hands in which the player was seen before.
    """
    order = np.lexsort((hand, player))
    ordered, dealt = player[order], hand[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    numbers = np.cumsum(starts | np.concatenate([[True], dealt[1:] != dealt[:-1]]))
    first = np.maximum.accumulate(np.where(starts, numbers, 0))
    before = np.empty(len(player), np.int64)
    before[order] = numbers - first
    return before
