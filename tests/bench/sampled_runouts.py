"""Cost of the choice and number of rivers after each turn, and gain of the control at the ends of turns.

    python -m tests.bench.sampled_runouts FILE [--choices N] [--deep]

Boards are those of tests/bench/six_flops.json, with 1.8 pots behind, one bet size and about 35 hands on each side.
Rivers are chosen to fit (`fitted`), at random, or evenly among the cards (`even`). Each row is one way to choose, a
number of rivers, and whether the ends of turns have a control (`poker.solvers.vector.layout`): `best`, as six_flops
measures it, and `rival`, in percent of the pot, averaged over the boards. Intervals are over N choices of rivers.

With `--deep` the flop is the paired one, with 39.5 pots behind. Rows are solves of more and more iterations, with and
without raises on later streets; the game in which `rival` is measured has raises.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from conf.compose import build
from poker.report.estimates import estimate
from poker.run.atomic import write_atomically
from poker.solvers.vector import boards, rivers
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, BettingTree, bet_menu, build_tree
from tests.bench.record import record
from tests.bench.six_flops import FLOPS, Flop, configuration, round_decisions

RANGES = ["TT-88,AQs,KQs,JTs,T9s,98s", "JJ-99,AKs-AJs,KQs,QJs"]
_MENU = [f"search.menu.{street}=[[0.75],{raises}]" for street, raises in (("flop", [1.0]), ("turn", []), ("river", []))]
_DEEP_MENU = [f"search.menu.{street}=[[1.0],[1.0],[]]" for street in ("turn", "river")]
_ITERATIONS, _SEED = 120, 7
ROWS = [
    *((choice, 3, control) for choice in ("fitted", "random", "even") for control in (0, 1)),
    *(("fitted", 6, control) for control in (0, 1)),
]


def chosen(choice: str, seed: int, ranks: NDArray[np.int16], *given: Any) -> NDArray[np.int64]:
    """In place of `fitted_rivers`."""
    every, count = np.arange(len(ranks)), given[-1]
    rng = np.random.default_rng([_SEED, seed, int(ranks.astype(np.int64).sum())])
    if choice == "even":
        return np.unique(np.linspace(0, len(ranks) - 1, count).round().astype(np.int64))
    if choice == "random":
        return np.sort(rng.choice(every, count, replace=False))
    trials = rng.permuted(np.tile(every, (rivers.TRIALS, 1)), axis=1)[:, :count]
    with mock.patch.object(rivers, "_trials", return_value=np.ascontiguousarray(trials)):
        return rivers.fitted_rivers(ranks, *given)


def measured(flop: Flop, choice: str, number: int, control: int, seed: int) -> list[float]:
    """`best` and `rival`, seconds of the choice and of the solve, hand-actions in millions."""
    seconds = [0.0]

    def timed(*given: Any) -> NDArray[np.int64]:
        begun = time.thread_time()
        few = chosen(choice, seed, *given)
        seconds[0] += time.thread_time() - begun
        return few

    with mock.patch.object(boards, "fitted_rivers", timed):
        game = sampled_game(flop, flop.tree, number, control)
    solver = VectorSolver(game, "apdcfr_short")
    begun = time.thread_time()
    solver.advance(_ITERATIONS)
    seconds.append(time.thread_time() - begun)
    play = {flop.tree.path(node): solver.strategy(node) for node in flop.nodes}
    return [flop.loss(play, believed=False), flop.given_away(play), *seconds, game.hand_actions / 1e6]


def deep_rows(flop: Flop, menu: BetMenu) -> Iterator[dict[str, Any]]:
    """Rows of `--deep`."""
    one_bet = build_tree(flop.root, menu.until(flop.root.street, bet_menu(turn=[[1.0], []], river=[[1.0], []])))
    for tree, number, control in ((flop.tree, 6, 0), (flop.tree, 3, 0), (flop.tree, 3, 1), (one_bet, 3, 1)):
        solver, seconds = VectorSolver(sampled_game(flop, tree, number, control), "apdcfr_short"), 0.0
        for iterations in (60, 100, 150):
            begun = time.thread_time()
            solver.advance(iterations - solver.iterations)
            seconds += time.thread_time() - begun
            play = {tree.path(node): solver.strategy(node) for node in round_decisions(tree)}
            yield {
                "rivers": number, "control": bool(control), "raises": tree is flop.tree, "iterations": iterations,
                "rival": flop.given_away(play), "solving": seconds,
                "hand_actions_millions": solver.game.hand_actions / 1e6,
            }  # fmt: skip


def sampled_game(flop: Flop, tree: BettingTree, number: int, control: int) -> VectorGame:
    """The game of a flop with a number of rivers, with the control or without."""
    game = VectorGame(tree, flop.board, flop.ranges, rivers=number)
    if not control:
        game.runout_matrix[game.runout_at[1, game.on(game.layout.last_street - 1)[0]] :] = 0
    return game


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--choices", type=int, default=3)
    parser.add_argument("--deep", action="store_true")
    options = parser.parse_args()
    specs = json.loads(FLOPS.read_text())
    if options.deep:
        config = configuration(["search=demo", *_DEEP_MENU], "random")
        flop = Flop("paired", specs["paired"], config, False, None)
        VectorSolver(sampled_game(flop, flop.tree, 1, 1), "apdcfr_short").advance(1)  # loads kernels
        rows = list(deep_rows(flop, build(config.search).menu))
        content = record(None, rows=rows, pots_behind=flop.pots_behind)
        write_atomically(options.file, json.dumps(content, indent=1).encode())
        return
    config = configuration(["search=demo", *_MENU], "random")
    cells: dict[tuple[str, int, int], list[list[list[float]]]] = {row: [] for row in ROWS}
    for name, spec in specs.items():
        flop = Flop(name, {**spec, "line": specs["public"]["line"], "ranges": RANGES}, config, False, None)
        for row, results in cells.items():
            seeds = 1 if row[0] == "even" else options.choices
            results.append([measured(flop, *row, seed) for seed in range(seeds)])
            print(name, row, np.mean(results[-1], axis=0).round(3), flush=True)
        rows = []
        for (choice, number, control), results in cells.items():
            best, rival, choosing, solving, size = np.array(results).mean(axis=0).T
            rows.append(
                {
                    "choice": choice, "rivers": number, "control": bool(control), "best": estimate(best).record(),
                    "rival": float(rival.mean()), "choosing": float(choosing.mean()), "solving": float(solving.mean()),
                    "hand_actions_millions": float(size.mean()), "choices": len(best),
                }
            )  # fmt: skip
        flops = list(specs)[: len(cells["even", 3, 0])]
        content = record(None, rows=rows, flops=flops, ranges=RANGES, iterations=_ITERATIONS, seed=_SEED)
        write_atomically(options.file, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
