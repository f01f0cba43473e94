"""Duplicate matches between blueprints on one betting tree and abstraction, played by compiled kernels.

Every deal is played in every seating, so the statistical unit is a deal. Values are mbb per hand and seat.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from poker.abstraction.dealers import Dealer
from poker.kernels.rng import streams
from poker.kernels.sampling.policy_match import play_policies
from poker.kernels.types import U64, Floats
from poker.run.errors import PokernetsError
from poker.run.machine import cores
from poker.solvers.blueprint import Blueprint, tree_fingerprint

_BATCH = 10_000
_PARTS = 8
"""Parts of a match, each with its own random numbers, so that results do not depend on the number of threads."""

Units = Floats
"""Results of independent units, in mbb per hand."""
Seed = int | np.random.SeedSequence


def play_match(first: Blueprint, second: Blueprint, dealer: Dealer, hands: int, seed: Seed) -> Units:
    """Play a duplicate match between two blueprints.

    Args:
        first: the blueprint whose winnings are returned.
        second: its opponent, on the same tree and abstraction.
        hands: number of hands, rounded up to whole deals.
        seed: seed of deals and actions.

    Returns:
        float64 [deals] winnings of `first` in mbb per hand, averaged over all seatings with both blueprints.

    Raises:
        PokernetsError: the blueprints have different trees or abstractions.
    """
    players = first.rules.num_players
    seatings = np.array([s for s in itertools.product((0, 1), repeat=players) if len(set(s)) == 2])
    is_first = seatings == 0
    same_tree = second.tree is first.tree or tree_fingerprint(second.tree) == tree_fingerprint(first.tree)
    if not same_tree or second.cards.fingerprint != first.cards.fingerprint:
        raise PokernetsError("policies play each other only on the same betting tree and abstraction")
    strategies = np.stack([first.strategy, second.strategy])
    arrays = first.sampling.arrays
    deals = -(-hands // len(seatings))
    batches = -(-deals // _BATCH)

    def play(part: int, rng: U64) -> list[Units]:
        units = []
        for _ in range(part, batches, _PARTS):
            dealt = dealer.deal(rng, _BATCH)
            results = np.empty((_BATCH, *seatings.shape))
            play_policies(arrays, strategies, seatings, dealt, rng, results)
            units.append(np.asarray((results * is_first).sum(axis=(1, 2)) / is_first.sum()))
        return units

    with ThreadPoolExecutor(cores()) as pool:
        parts = list(pool.map(play, range(_PARTS), streams(seed, _PARTS)))
    chips = np.concatenate([batch for part in parts for batch in part])[:deals]
    return chips * (1000.0 / max(first.rules.big_blind, 1))
