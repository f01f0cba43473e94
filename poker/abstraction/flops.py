"""Small weighted subsets of flops that represent all 1,755 flop classes.

Classes are first divided by the number of suits and of ranks on the flop (for example three of a suit, or a pair). Each
division receives its share of the flops, at least one. The distance between two flops is the difference in how the 169
classes of starting hands stand on them. We measure this by their mean strength against a random hand and its mean
square, over a turn of each rank. Each division is clustered around medoids, and one flop represents each cluster, so
the chosen flops are spread like all flops. A flop's weight is the number of deals in its cluster. The representatives
are chosen last, one after the other. Each choice brings the weighted mean over the chosen flops as close as possible to
the mean over all flops.

N is the number of flops and V the number of features.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poker.game.cards import NUM_RANKS, NUM_SUITS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.kernels.cards.isomorphism import NUM_BOARDS, board_multiplicities, canonical_boards
from poker.kernels.cards.strength import boards_strength
from poker.kernels.types import I64, Floats
from poker.run.errors import PokernetsError

NUM_FLOPS = NUM_BOARDS[3]
_MAX_ROUNDS = 50


class FlopSubset(NamedTuple):
    """A weighted subset of the canonical flops.

    Attributes:
        numbers: int64 [N] numbers of the canonical flops, ascending.
        weights: int64 [N] deals that each flop represents; they sum to 22,100.
    """

    numbers: I64
    weights: I64


@lru_cache
def representative_flops(count: int) -> FlopSubset:
    """Choose a number of flops that represent all others.

    Args:
        count: number of flops N. With 1,755 each class represents itself.

    Raises:
        PokernetsError: the number is too small or too large.
    """
    deals, kinds = board_multiplicities(3), _divisions()
    fewest = len(np.unique(kinds))
    if not fewest <= count <= NUM_FLOPS:
        raise PokernetsError(f"the number of flops must be between {fewest} and {NUM_FLOPS:,}, not {count}")
    if count == NUM_FLOPS:
        return FlopSubset(np.arange(NUM_FLOPS), deals)
    features, clusters = _features(), list[I64]()
    for kind, places in enumerate(_shares(count, kinds, deals)):
        own = np.flatnonzero(kinds == kind)
        nearest = _clusters(features[own], deals[own], places)
        clusters += [own[nearest == place] for place in range(places)]
    numbers, weights = _representatives(features, deals, clusters)
    order = numbers.argsort()
    return FlopSubset(numbers[order], weights[order])


def _divisions() -> I64:
    """Return the int64 [1755] number of the division of each class."""
    boards = canonical_boards(3)
    counts = [np.array([len(set(row)) for row in part.tolist()]) for part in (boards % NUM_SUITS, boards // NUM_SUITS)]
    return np.unique(counts[0] * NUM_RANKS + counts[1], return_inverse=True)[1]


def _shares(count: int, kinds: I64, deals: I64) -> list[int]:
    """Return the flops of each division: one each, then one more at a time where a flop represents the most deals."""
    masses, sizes = np.bincount(kinds, deals), np.bincount(kinds)
    shares = np.ones(len(masses), np.int64)
    for _ in range(count - len(masses)):
        shares[np.where(shares < sizes, masses / (shares + 0.5), 0).argmax()] += 1
    return shares.tolist()


@lru_cache
def _features() -> Floats:
    """Return [1755, 2 * 169] features: the mean of strength (0..1) and of its square, for each starting class.

    They are scaled so that the squared distance of two flops is a mean over starting hands.
    """
    flops = canonical_boards(3)
    to_class = np.eye(169, dtype=np.float32)[PREFLOP_CLASS]
    sums = np.zeros((2, len(flops), 169), np.float32)
    dealt = np.zeros((len(flops), 169), np.float32)
    for rank in range(NUM_RANKS):
        turns = np.array([_turn(flop, rank) for flop in flops.tolist()], np.uint8)
        strength = boards_strength(np.concatenate([flops, turns[:, None]], axis=1)).astype(np.float32)
        live = strength >= 0
        strength = np.where(live, strength / 1980, 0)
        dealt += live.astype(np.float32) @ to_class
        sums += np.stack([strength @ to_class, strength**2 @ to_class])
    weighted = sums / np.maximum(dealt, 1) * np.sqrt(PREFLOP_CLASS_SIZE / PREFLOP_CLASS_SIZE.sum())
    return np.concatenate(list(weighted), axis=1).astype(np.float64)


def _turn(flop: list[int], rank: int) -> int:
    """Return a turn card of the rank, in the suit that is rarest on the flop if that card is free."""
    suits = [card % NUM_SUITS for card in flop]
    cards = [rank * NUM_SUITS + suit for suit in sorted(range(NUM_SUITS), key=suits.count)]
    return next(card for card in cards if card not in flop)


def _clusters(features: Floats, deals: I64, count: int) -> I64:
    """Return the cluster [N] of each point [N, V], around `count` medoids."""
    squares = (features**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * features @ features.T, 0))
    near, chosen = np.full(len(features), np.inf), np.zeros(count, np.int64)
    for place in range(count):
        chosen[place] = (np.minimum(near[:, None], distance) * deals[:, None]).sum(axis=0).argmin()
        near = np.minimum(near, distance[:, chosen[place]])
    for _ in range(_MAX_ROUNDS):
        nearest = distance[:, chosen].argmin(axis=1)
        members = (np.flatnonzero(nearest == place) for place in range(count))
        costs = ((own, (distance[np.ix_(own, own)] * deals[own][:, None]).sum(axis=0)) for own in members)
        better = np.array([own[cost.argmin()] for own, cost in costs])
        if (better == chosen).all():
            break
        chosen = better
    return np.asarray(distance[:, chosen].argmin(axis=1))


def _representatives(features: Floats, deals: I64, clusters: list[I64]) -> tuple[I64, I64]:
    """Return the chosen point of each cluster and its weight.

    The choice brings the weighted mean close to the mean over all points.
    """
    weights = np.array([deals[own].sum() for own in clusters])
    chosen = np.array([own[0] for own in clusters])
    missing = deals @ features - weights @ features[chosen]
    for _ in range(_MAX_ROUNDS):
        before = chosen.copy()
        for place, own in enumerate(clusters):
            left = missing + weights[place] * features[chosen[place]]
            chosen[place] = own[((left - weights[place] * features[own]) ** 2).sum(axis=1).argmin()]
            missing = left - weights[place] * features[chosen[place]]
        if (chosen == before).all():
            break
    return chosen, weights
