"""Few rivers that stand for all after a turn, for flops that are solved to the end of the hand.

The rivers are chosen so that sums over them fit the sums over all rivers, for every hand of either range: the chance
that the river leaves the hand and the other range possible, the hand's margin at showdown against that range (weight
that it beats less weight that beats it) and the margin's square. With D [R, F] the deviations of R rivers from their
mean in all F sums, each scaled to the hand's weight, a choice S of equal weights is off by |sum of D over S|^2 / |S|^2.
The Gram matrix D D^T gives that error for any choice, so many choices are tried and the best is improved by exchanges.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import hand_ranks
from poker.game.rules import Rules
from poker.kernels.cards.runouts import showdown_margins
from poker.kernels.types import Board, Floats, Singles

TRIALS = 256
"""Random choices, the best of which is improved."""


def fitted_rivers(
    rules: Rules, turn: Board, rivers: Sequence[Board], multiplicity: NDArray[np.int64], ranges: Singles, count: int
) -> NDArray[np.int64]:
    """Choose `count` rivers after `turn` whose showdowns fit those of all `rivers`.

    Args:
        rivers: [R] the cards of each class of rivers.
        multiplicity: [R] concrete rivers that each class stands for.
        ranges: float32 [2, H] weights of both players' hands.
        count: number of classes to choose, less than R.

    Returns:
        [count] ascending indices of the chosen rivers; the same for the same arguments.
    """
    deviations = _deviations(rules, turn, rivers, multiplicity, ranges) * multiplicity[:, None]
    gram = deviations @ deviations.T
    rng = np.random.default_rng([*turn, count])
    trials = rng.permuted(np.tile(np.arange(len(rivers)), (TRIALS, 1)), axis=1)[:, :count]
    errors = gram[trials[:, :, None], trials[:, None]].sum(axis=(1, 2)) / multiplicity[trials].sum(axis=1) ** 2
    chosen = trials[errors.argmin()]
    while (exchanged := _exchanged(gram, multiplicity, chosen)) is not None:
        chosen = exchanged
    return np.sort(chosen)


def _exchanged(gram: Floats, multiplicity: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The choice with the one river exchanged that lowers the error most; None if no exchange lowers it."""
    others = np.setdiff1d(np.arange(len(gram)), chosen)
    inside = gram[chosen][:, chosen]
    out, into = inside.sum(axis=1), gram[chosen][:, others].sum(axis=0)
    total, diagonal = inside.sum(), np.diag(gram)
    sums = (total - 2 * out + diagonal[chosen])[:, None] + (2 * into + diagonal[others])[None]
    sums -= 2 * gram[np.ix_(chosen, others)]
    size = multiplicity[chosen].sum()
    errors = sums / (size - multiplicity[chosen][:, None] + multiplicity[others][None]) ** 2
    best = np.unravel_index(errors.argmin(), errors.shape)
    if errors[best] >= (1 - 1e-9) * total / size**2:
        return None
    exchanged = chosen.copy()
    exchanged[best[0]] = others[best[1]]
    return exchanged


def _deviations(
    rules: Rules, turn: Board, rivers: Sequence[Board], multiplicity: NDArray[np.int64], ranges: Singles
) -> Floats:
    """[R, F] deviations of each river's sums from their means over all rivers."""
    space = rules.space
    hands = np.flatnonzero((ranges > 0).any(axis=0) & space.live(turn))
    cards = np.ascontiguousarray(space.hand_cards[hands])
    ranks = np.stack([hand_ranks(rules, (*turn, *river))[hands] for river in rivers]).astype(np.int16)
    live = ranks >= 0
    order = np.argsort(ranks, axis=1, kind="stable").astype(np.int16)
    blocked, parts = (~live).sum(axis=1), []
    for player in range(2):
        own, other = (ranges[side, hands].astype(np.float64) for side in (player, 1 - player))
        others = np.zeros((len(rivers), rules.num_hands))
        others[:, hands] = other * live
        mass = space.compatible_mass(others)[:, hands] * live
        margin = np.zeros_like(mass)
        for river, (ordered, first) in enumerate(zip(order, blocked.tolist(), strict=True)):
            remaining = ordered[None, first:]
            showdown_margins(remaining, ranks[river][remaining], cards, other, margin[river])
        square = margin**2 / np.maximum(mass, 1e-30)
        mean_mass = np.maximum((multiplicity @ mass) / multiplicity.sum(), 1e-30)
        scale = np.sqrt(own / mean_mass)  # the weight of the hand's pairs, of sums per unit of mass
        parts += [scale * sums for sums in (mass, margin, square)]
    rows = np.concatenate(parts, axis=1)
    deviations: Floats = rows - (multiplicity @ rows) / multiplicity.sum()
    return deviations
