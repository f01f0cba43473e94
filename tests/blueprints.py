"""Blueprints without training."""

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.tree import BettingTree


def random_blueprint(tree: BettingTree, cards: Buckets, seed: int = 0) -> Blueprint:
    """Random strategies, by node and seed the same each time."""

    def strategy(node: int) -> NDArray[np.float32]:
        rng, buckets = np.random.default_rng([seed, node]), cards.num_buckets[int(tree.street[node])]
        return rng.dirichlet(np.ones(int(tree.num_children[node])), buckets).astype(np.float32)

    return blueprint_from(tree, cards, strategy)
