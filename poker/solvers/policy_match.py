"""Duplicate matches between blueprints on one betting tree and abstraction, at kernel speed.

Every deal is played in every seating, so that the unit of the statistics is a deal. Values are mbb per hand and seat.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.dealers import Dealer
from poker.errors import PokernetsError
from poker.kernels.rng import streams
from poker.kernels.sampling.policy_match import play_policies
from poker.solvers.blueprint import Blueprint, tree_fingerprint

_BATCH = 10_000

Units = NDArray[np.float64]
"""What independent units won, in mbb per hand."""
Seed = int | np.random.SeedSequence


def play_match(first: Blueprint, second: Blueprint, dealer: Dealer, hands: int, seed: Seed) -> Units:
    """[deals] What `first` wins against `second` in all seatings that both take part in, at least `hands` of them."""
    players = first.rules.num_players
    seatings = np.array([s for s in itertools.product((0, 1), repeat=players) if len(set(s)) == 2])
    mine = seatings == 0
    deals = -(-hands // len(seatings))
    units = [
        (played * mine).sum(axis=(1, 2)) / mine.sum()
        for played in _played((first, second), seatings, dealer, deals, seed)
    ]
    return np.concatenate(units)[:deals] * _per_mbb(first)


def play_itself(policy: Blueprint, dealer: Dealer, hands: int, seed: Seed) -> Units:
    """[hands, P] What each seat wins when all of them play `policy`."""
    seatings = np.zeros((1, policy.rules.num_players), dtype=np.int64)
    units = np.concatenate([played[:, 0] for played in _played((policy,), seatings, dealer, hands, seed)])[:hands]
    return units * _per_mbb(policy)


def _played(
    policies: Sequence[Blueprint], seatings: NDArray[np.int64], dealer: Dealer, deals: int, seed: Seed
) -> Iterator[NDArray[np.float64]]:
    """[n, T, P] net chips of batches of deals, until there are enough."""
    known = policies[0]
    for policy in policies[1:]:
        same_cards = policy.cards.fingerprint == known.cards.fingerprint
        same_tree = policy.tree is known.tree or tree_fingerprint(policy.tree) == tree_fingerprint(known.tree)
        if not (same_cards and same_tree):
            raise PokernetsError("policies play each other only on the same betting tree and abstraction")
    strategies = np.stack([policy.strategy for policy in policies])
    rng = streams(seed, 1)[0]
    arrays = known.sampling.arrays
    for _ in range(-(-deals // _BATCH)):
        dealt = dealer.deal(rng, _BATCH)
        results = np.empty((_BATCH, *seatings.shape))
        play_policies(arrays, strategies, seatings, dealt, rng, results)
        yield results


def _per_mbb(policy: Blueprint) -> float:
    return 1000.0 / max(policy.rules.big_blind, 1)
