"""Turn spots solved with river leaves by nets over ranges: exploitability, completed by exact rivers, and CPU time.

    python -m tests.bench.turn_leaves --nets DIR [--leaves river end_of_turn] [--every 5] [--iterations 200]
        [--out FILE]

`DIR` has a net for each level (`train.py model=range_values`). `river` asks the net of rivers about every next card,
`end_of_turn` that of turns at their end once. The exact solve goes to 0.1% of the pot, as that which completes others.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.leaf.range_net import RANGE_NET, RangeNet
from poker.depth_limit.leaves.range_net import MeanOverDeals, RangeNetLeaf
from poker.depth_limit.range_inputs import LEVELS
from poker.formats.ranges import parse_range
from poker.game.cards import parse_cards
from poker.run.atomic import write_atomically
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.store.artifacts import open_artifact
from poker.tree import DepthLimit, build_tree
from poker.tree.spots import spot_bets, spot_root
from tests.bench.record import record
from tests.solvers.completed import completed
from tests.solvers.games import SPOTS

NAMES = "t1_turn_basic", "t2_turn_wide"
_PRECISION = 0.001
"""Of the pot."""


@dataclass(frozen=True)
class Row:
    """`exploitability` in percent of the pot; `seconds` of CPU for the solve of the turn, trees and boards included."""

    spot: str
    leaf: str
    every: int | None
    iterations: int
    seconds: float
    exploitability: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nets", type=Path, required=True)
    parser.add_argument("--leaves", nargs="+", default=["river", "end_of_turn"])
    parser.add_argument("--every", nargs="+", type=int, default=[5])
    parser.add_argument("--iterations", nargs="+", type=int, default=[200])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    leaves = {name: _net(options.nets, name) for name in options.leaves}
    rows: list[Row] = []
    for spot in NAMES:
        rows += _measured(spot, leaves, options.every, options.iterations)
    if options.out:
        nets = [_told(options.nets, level) for level in LEVELS if (options.nets / level).exists()]
        content = record(options.nets, rows=[asdict(row) for row in rows], nets=nets)
        write_atomically(options.out, json.dumps(content, indent=1).encode())


def _told(nets: Path, level: str) -> dict[str, Any]:
    """States that a net learned from, and its losses on others."""
    counts = open_artifact(nets / level, RANGE_NET).counts
    return {"level": level, "states": counts["training_rows"], **counts["validation"]}


def _net(nets: Path, level: str) -> RangeNet | MeanOverDeals:
    net = RangeNet(nets / level, level)
    return MeanOverDeals(net) if level == "river" else net


def _measured(spot: str, leaves: dict[str, Any], every: Sequence[int], iterations: Sequence[int]) -> list[Row]:
    config = dict(SPOTS[spot]["config"])
    ranges = np.stack([parse_range(config.pop("oop_range")), parse_range(config.pop("ip_range"))])
    board, pot, stack = parse_cards(config.pop("board")), int(config.pop("pot")), int(config.pop("stack"))
    root, menu = spot_root(len(board), stack), spot_bets(config)
    begun = time.process_time()
    exact = VectorSolver(VectorGame(build_tree(root, menu, dead=pot), board, ranges))
    exact.run(1000, _PRECISION)
    seconds = time.process_time() - begun
    rows = [_row(spot, "exact", None, exact, seconds, exact.exploitability() / pot)]
    whole = VectorGame(build_tree(root, menu, dead=pot), board, ranges, isomorphism=False)
    for name, net in leaves.items():
        for count in iterations:
            for each in every:
                begun = time.process_time()
                tree = build_tree(root, menu, DepthLimit(root.street, 1), dead=pot)
                states = [tree.betting(node, root) for node in tree.leaves.tolist()]
                posed = RangeNetLeaf(net=net, every=each).asked(states, board, pot)
                solver = VectorSolver(VectorGame(tree, board, ranges, posed))
                solver.advance(count)
                seconds = time.process_time() - begun
                lost = completed(solver, whole, exact.iterations).exploitability() / pot
                rows.append(_row(spot, name, each, solver, seconds, lost))
    return rows


def _row(spot: str, leaf: str, every: int | None, solver: VectorSolver, seconds: float, lost: float) -> Row:
    row = Row(spot, leaf, every, solver.iterations, seconds, 100 * lost)
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
