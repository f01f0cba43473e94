"""`python -m tests.bench.flop_subsets > FILE`: how far few flops are from all in what two ranges' equity is.

Equities of three pairs of ranges on all 1,755 classes of flops: errors of the mean, and of the mean square, for subsets
of `poker.abstraction.flops`, and their root mean square for as many flops drawn by chance.
"""

import json
from typing import Any

import numpy as np

from poker.abstraction.features import all_in_equity
from poker.abstraction.flops import NUM_FLOPS, representative_flops
from poker.formats.ranges import parse_range
from poker.game.cards import HOLDEM
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.types import Floats
from tests.bench.record import record

RANGES = {
    "single raise": ("22-99,A2s-ATs,K5s-KJs,Q8s-QJs,J8s+,T8s+,97s+,86s+,75s+,65s,54s,A8o-AJo,KTo-KJo,QTo+,JTo",
                     "22+,A2s+,K5s+,Q8s+,J8s+,T8s+,97s+,86s+,76s,65s,54s,A7o+,K9o+,Q9o+,J9o+,T9o"),
    "re-raise": ("TT+,AQs+,A5s-A2s,KQs,KJs,AKo,AQo:0.5", "QQ-66,AQs-ATs,KQs-KTs,QJs,JTs,T9s,AQo"),
    "pairs against suited": ("22+", "A2s+,K9s+,Q9s+,J9s+,T9s,98s,87s,76s,65s,54s"),
}  # fmt: skip
COUNTS = (25, 49, 184)
SAMPLES = 2000


def equities() -> Floats:
    """[1755, pairs of ranges, 2] equity of the first range, and the weight of the hands that can meet."""
    pairs = [[parse_range(text).astype(np.float64) for text in pair] for pair in RANGES.values()]
    values = np.zeros((NUM_FLOPS, len(pairs), 2))
    for number, board in enumerate(canonical_boards(3).tolist()):
        equity, live = all_in_equity(board), HOLDEM.live(board)
        for place, pair in enumerate(pairs):
            first, second = (range_ * live for range_ in pair)
            weight = float(first @ HOLDEM.compatible_mass(second))
            values[number, place] = first @ (equity @ second.astype(np.float32)) / weight, weight
    return values


def measure(values: Floats) -> list[dict[str, Any]]:
    """Errors for one pair of ranges, from its `equities` [1755, 2]."""
    deals, rng = board_multiplicities(3), np.random.default_rng(1)

    def mean(numbers: Any, weights: Any) -> Any:
        share = weights * values[numbers, 1]
        return np.array([share @ values[numbers, 0], share @ values[numbers, 0] ** 2]) / share.sum()

    whole, rows = mean(np.arange(NUM_FLOPS), deals), []
    for count in COUNTS:
        drawn = rng.choice(NUM_FLOPS, (SAMPLES, count), p=deals / deals.sum())
        by_chance = np.array([mean(numbers, np.ones(count)) - whole for numbers in drawn])
        own, usual = np.abs(mean(*representative_flops(count)) - whole), np.sqrt((by_chance**2).mean(axis=0))
        row = {"equity": whole[0], "error": own[0], "by_chance": usual[0]}
        row |= {"square_error": own[1], "square_by_chance": usual[1]}
        rows.append({"flops": count, **{name: round(float(value), 6) for name, value in row.items()}})
    return rows


def main() -> dict[str, Any]:
    values = equities()
    rows = [{"ranges": name, **row} for place, name in enumerate(RANGES) for row in measure(values[:, place])]
    return record(played={}, what=f"{SAMPLES:,} samples by chance of each size, seed 1", rows=rows)


if __name__ == "__main__":
    print(json.dumps(main(), indent=1))
