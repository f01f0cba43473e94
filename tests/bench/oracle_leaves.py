"""Turns whose leaves are exact rivers: what their strategies lose, by how often and how well the rivers are solved.

python -m tests.bench.oracle_leaves [--spots 5] [--iterations 200 800] [--out FILE]
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from poker.formats.ranges import parse_range
from poker.game.cards import HOLDEM, NUM_HANDS, parse_cards
from poker.kernels.types import Board, Singles
from poker.run.atomic import write_atomically
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, DepthLimit, bet_menu, build_tree
from poker.tree.spots import spot_root
from tests.bench.record import record
from tests.solvers.completed import completed, completed_together
from tests.solvers.oracle import river_oracle

_POT, _TURN = 100, 2
_EXACT, _AROUND = 1000, 1000
"""Iterations of the exact solve, and of those that complete a turn."""


@dataclass(frozen=True)
class Spot:
    name: str
    board: Board
    ranges: Singles
    stack: int
    menu: BetMenu


@dataclass(frozen=True)
class Row:
    """Losses in percent of the pot: half of what both players' best responses win, in the turn as solved and completed
    by each player's best rivers, or by rivers solved for both together. `value` is the first player's, in the same
    unit; `seconds` of CPU."""

    spot: str
    leaves: str
    every: int | None
    river_iterations: int | None
    iterations: int
    value: float
    loss: float
    loss_together: float
    seconds: float


def spots() -> Iterator[Spot]:
    few = bet_menu(turn=[[0.5, "a"], ["a"]], river=[[1.0, "a"], ["a"]])
    board = parse_cards("AsKd8c7h")
    yield Spot("sets and queens", board, _ranges(board, "AA,KK,QQ", "TT,99,88"), 150, few)
    rng, chosen = np.random.default_rng(3), np.zeros((2, NUM_HANDS), np.float32)
    for row in chosen:  # those of tests/solvers/vector/test_asked.py
        row[rng.choice(np.flatnonzero(HOLDEM.live(board)), 60, replace=False)] = rng.random(60) + 0.1
    yield Spot("sixty hands", board, chosen, 150, few)
    for name, text, oop, ip in (
        ("paired board", "JsJd5c2h", "AA-TT,AJs,KJs,QJs,JTs,A5s,A2s", "QQ-22,AJs-ATs,KQs,T9s,98s,87s"),
        ("two spades", "9s8s4cKh", "99,44,AKs,KQs,K9s,98s,AQs-A5s,JTs,76s", "AA-TT,AKo,KQs,KJs,T9s,JTs,QJs,A8s,66"),
        ("two diamonds", "Td9d6hQc", "66+,A8s+,KQo,QTs+,JTs,96s+,85s+", "QQ-22,ATs+,KJs+,JTs,T9s,98s,87s"),
    ):
        board = parse_cards(text)
        yield Spot(name, board, _ranges(board, oop, ip), 300, few)


def _ranges(board: Board, *texts: str) -> Singles:
    return np.stack([np.where(HOLDEM.live(board), parse_range(text), 0) for text in texts]).astype(np.float32)


def measured(spot: Spot, oracles: list[str], iterations: int) -> Iterator[Row]:
    root = spot_root(len(spot.board), spot.stack)
    whole = VectorGame(build_tree(root, spot.menu, dead=_POT), spot.board, spot.ranges, isomorphism=False)
    begun = time.process_time()
    exact = VectorSolver(whole)
    exact.advance(_EXACT)
    yield _row(spot, exact, whole, "none", None, None, time.process_time() - begun)
    limited = build_tree(root, spot.menu, DepthLimit(_TURN, 1, ()), dead=_POT)
    for every, rivers in (map(int, oracle.split(",")) for oracle in oracles):
        begun = time.process_time()
        leaves = river_oracle(limited, spot.menu, spot.board, spot.ranges, every, rivers)
        solver = VectorSolver(VectorGame(limited, spot.board, spot.ranges, leaves))
        solver.advance(iterations)
        seconds = time.process_time() - begun
        solver.ask_leaves(average=True)
        yield _row(spot, solver, whole, "exact rivers", every, rivers, seconds)


def _row(
    spot: Spot,
    solver: VectorSolver,
    whole: VectorGame,
    leaves: str,
    every: int | None,
    rivers: int | None,
    seconds: float,
) -> Row:
    alone, together = (
        100 * complete(solver, whole, _AROUND).exploitability() / _POT for complete in (completed, completed_together)
    )
    value = 100 * solver.game_value() / _POT
    row = Row(spot.name, leaves, every, rivers, solver.iterations, value, alone, together, seconds)
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spots", type=int, default=5)
    parser.add_argument("--oracles", nargs="+", default=["5,60", "2,60", "1,60"])
    parser.add_argument("--iterations", nargs="+", type=int, default=[200])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for spot in list(spots())[: options.spots]:
        for count in options.iterations:
            for row in measured(spot, options.oracles, count):
                rows.append(asdict(row))
                if options.out:
                    write_atomically(options.out, json.dumps(record(rows=rows), indent=1).encode())


if __name__ == "__main__":
    main()
