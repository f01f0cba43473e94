"""Copy a blueprint with its probabilities rounded to few levels, to measure how rounding changes its strength.

    python -m tests.bench.strategy_levels ARTIFACTS LEVELS OUTPUT

`LEVELS` divides 255. Agents play the copy as `rival` does: `agent.rival.blueprint.blueprint=OUTPUT` and
`agent.rival.blueprint.abstraction=ARTIFACTS/abstraction`.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import CardAbstraction
from poker.solvers.blueprint import KIND, Blueprint
from poker.store.artifacts import open_artifact, write_artifact


def in_levels(blueprint: Blueprint, levels: int) -> NDArray[np.uint8]:
    """The strategy in 8 bits, with probabilities rounded by largest remainder to multiples of 1 / `levels`."""
    rounded = np.zeros(blueprint.strategy.size, dtype=np.uint8)
    for nodes in blueprint.sampling.batches(1 << 22):
        arity = int(blueprint.sampling.nodes["arity"][nodes[0]])
        places = blueprint.sampling.starts(nodes)[:, :, None] + np.arange(arity)
        weights = blueprint.strategy[places].astype(np.float64)
        shares = weights / weights.sum(axis=-1, keepdims=True) * levels
        steps = np.floor(shares)
        missing = levels - steps.sum(axis=-1, keepdims=True)
        ranks = np.argsort(np.argsort(steps - shares, axis=-1, kind="stable"), axis=-1)
        rounded[places] = (steps + (ranks < missing)) * (255 // levels)
    return rounded


if __name__ == "__main__":
    folder, count, output = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    source = open_artifact(folder / "blueprint", KIND)
    cards = CardAbstraction.load(folder / "abstraction")
    strategy = in_levels(Blueprint.load(source.path, cards), count)
    arrays = {name: source.arrays[name] for name in source.arrays} | {"strategy": strategy}
    config = {**source.config, "bits": 8}
    write_artifact(output, KIND, arrays=arrays, config=config, counts=source.counts, made_from=source.made_from)
