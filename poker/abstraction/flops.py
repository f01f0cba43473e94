"""Few flops that stand for all 1,755 classes of them, with weights.

Classes are first divided by the number of suits and of ranks on the flop (three of a suit, a pair, ...), each of which
gets its share of the flops, at least one. Two flops are as far apart as the 169 classes of starting hands stand
differently on them: by their mean strength against a random hand, and its mean square, over a turn of each rank. Each
division is cut into clusters around medoids, so that the flops chosen, one of each cluster, are spread as all flops
are. A flop weighs as many deals as its cluster has. Which flop stands for a cluster is decided last, one after the
other: the one with which the weighted mean over the flops chosen is nearest to the mean over all.

Symbols: N flops, V features.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import NUM_RANKS, NUM_SUITS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.kernels.cards.isomorphism import NUM_BOARDS, board_multiplicities, canonical_boards
from poker.kernels.cards.strength import boards_strength
from poker.kernels.types import Floats
from poker.run.errors import PokernetsError

NUM_FLOPS = NUM_BOARDS[3]
_MOST_ROUNDS = 50


class FlopSubset(NamedTuple):
    """Numbers [N] of canonical flops, ascending, and the deals [N] that each stands for: 22,100 together."""

    numbers: NDArray[np.int64]
    weights: NDArray[np.int64]


@lru_cache
def representative_flops(count: int) -> FlopSubset:
    """`count` flops; all of them are the classes with their own numbers of deals."""
    deals, kinds = board_multiplicities(3), _divisions()
    fewest = len(np.unique(kinds))
    if not fewest <= count <= NUM_FLOPS:
        raise PokernetsError(f"{count} flops: {fewest} to {NUM_FLOPS:,} can stand for all")
    if count == NUM_FLOPS:
        return FlopSubset(np.arange(NUM_FLOPS), deals)
    features, clusters = _features(), list[NDArray[np.int64]]()
    for kind, places in enumerate(_shares(count, kinds, deals)):
        own = np.flatnonzero(kinds == kind)
        nearest = _clusters(features[own], deals[own], places)
        clusters += [own[nearest == place] for place in range(places)]
    numbers, weights = _nearest_to_all(features, deals, clusters)
    order = numbers.argsort()
    return FlopSubset(numbers[order], weights[order])


def _divisions() -> NDArray[np.int64]:
    """[1755] number of the division of each class."""
    boards = canonical_boards(3)
    different = [
        np.array([len(set(row)) for row in part.tolist()]) for part in (boards % NUM_SUITS, boards // NUM_SUITS)
    ]
    return np.unique(different[0] * NUM_RANKS + different[1], return_inverse=True)[1]


def _shares(count: int, kinds: NDArray[np.int64], deals: NDArray[np.int64]) -> list[int]:
    """Flops for each division: one, and then one by one where the most deals stand behind each."""
    masses, sizes = np.bincount(kinds, deals), np.bincount(kinds)
    shares = np.ones(len(masses), np.int64)
    for _ in range(count - len(masses)):
        shares[np.where(shares < sizes, masses / (shares + 0.5), 0).argmax()] += 1
    return shares.tolist()


@lru_cache
def _features() -> Floats:
    """[1755, 2 * 169] means of strength, in 0..1, and of its square, weighted so that the squared distance of two flops
    is a mean over starting hands."""
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
    """A card of the rank: of the suit that the flop has least of, as far as it is not on the flop."""
    suits = [card % NUM_SUITS for card in flop]
    cards = [rank * NUM_SUITS + suit for suit in sorted(range(NUM_SUITS), key=suits.count)]
    return next(card for card in cards if card not in flop)


def _clusters(features: Floats, deals: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """[N] the cluster of each of the points [N, V], around `count` medoids."""
    squares = (features**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * features @ features.T, 0))
    near, chosen = np.full(len(features), np.inf), np.zeros(count, np.int64)
    for place in range(count):
        chosen[place] = (np.minimum(near[:, None], distance) * deals[:, None]).sum(axis=0).argmin()
        near = np.minimum(near, distance[:, chosen[place]])
    for _ in range(_MOST_ROUNDS):
        nearest = distance[:, chosen].argmin(axis=1)
        members = (np.flatnonzero(nearest == place) for place in range(count))
        costs = ((own, (distance[np.ix_(own, own)] * deals[own][:, None]).sum(axis=0)) for own in members)
        better = np.array([own[cost.argmin()] for own, cost in costs])
        if (better == chosen).all():
            break
        chosen = better
    return np.asarray(distance[:, chosen].argmin(axis=1))


def _nearest_to_all(
    features: Floats, deals: NDArray[np.int64], clusters: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The point of each cluster, and its weight, with which the weighted mean is nearest to that of all points."""
    weights = np.array([deals[own].sum() for own in clusters])
    chosen = np.array([own[0] for own in clusters])
    missing = deals @ features - weights @ features[chosen]
    for _ in range(_MOST_ROUNDS):
        before = chosen.copy()
        for place, own in enumerate(clusters):
            left = missing + weights[place] * features[chosen[place]]
            chosen[place] = own[((left - weights[place] * features[own]) ** 2).sum(axis=1).argmin()]
            missing = left - weights[place] * features[chosen[place]]
        if (chosen == before).all():
            break
    return chosen, weights
