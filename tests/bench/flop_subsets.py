"""`python -m tests.bench.flop_subsets > FILE`: how far few flops are from all in what two ranges' equity is.

Equities of three pairs of ranges on all 1,755 classes of flops: errors of the mean, and of the mean square, for subsets
of `poker.abstraction.flops`, and their root mean square for as many flops drawn by chance.
"""

import json
from typing import Any

import numpy as np

from poker.abstraction.flops import NUM_FLOPS, representative_flops
from poker.formats.ranges import parse_range
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.spot.decisions import equity
from poker.tree.spots import spot_tree
from tests.bench.record import record

RANGES = {
    "single raise": ("22-99,A2s-ATs,K5s-KJs,Q8s-QJs,J8s+,T8s+,97s+,86s+,75s+,65s,54s,A8o-AJo,KTo-KJo,QTo+,JTo",
                     "22+,A2s+,K5s+,Q8s+,J8s+,T8s+,97s+,86s+,76s,65s,54s,A7o+,K9o+,Q9o+,J9o+,T9o"),
    "re-raise": ("TT+,AQs+,A5s-A2s,KQs,KJs,AKo,AQo:0.5", "QQ-66,AQs-ATs,KQs-KTs,QJs,JTs,T9s,AQo"),
    "pairs against suited": ("22+", "A2s+,K9s+,Q9s+,J9s+,T9s,98s,87s,76s,65s,54s"),
}  # fmt: skip
COUNTS = (25, 49, 184)
SAMPLES = 2000


def measure(first: str, second: str) -> list[dict[str, Any]]:
    ranges = np.stack([parse_range(first), parse_range(second)])
    games = (VectorGame(spot_tree(3, 2, 1, {}), tuple(board), ranges) for board in canonical_boards(3).tolist())
    found = np.array([(equity(game)[0], game.total_weight) for game in games])
    deals, rng = board_multiplicities(3), np.random.default_rng(1)

    def mean(numbers: Any, weights: Any) -> Any:
        share = weights * found[numbers, 1]
        return np.array([share @ found[numbers, 0], share @ found[numbers, 0] ** 2]) / share.sum()

    whole, rows = mean(np.arange(NUM_FLOPS), deals), []
    for count in COUNTS:
        drawn = rng.choice(NUM_FLOPS, (SAMPLES, count), p=deals / deals.sum())
        by_chance = np.array([mean(numbers, np.ones(count)) - whole for numbers in drawn])
        own, usual = np.abs(mean(*representative_flops(count)) - whole), np.sqrt((by_chance**2).mean(axis=0))
        told = {"equity": whole[0], "error": own[0], "by_chance": usual[0]}
        told |= {"square_error": own[1], "square_by_chance": usual[1]}
        rows.append({"flops": count, **{name: round(float(value), 6) for name, value in told.items()}})
    return rows


def main() -> dict[str, Any]:
    rows = [{"ranges": name, **row} for name, pair in RANGES.items() for row in measure(*pair)]
    return record(what=f"{SAMPLES:,} samples by chance of each size, seed 1", rows=rows)


if __name__ == "__main__":
    print(json.dumps(main(), indent=1))
