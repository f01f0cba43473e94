"""Turns from play solved as `search=demo` does, to the end or with a net over ranges at the turn's end: time and loss.

    OPENBLAS_NUM_THREADS=1 python -m tests.bench.turn_ends FILE [--roots 6] [--losses 4] [--seed 1]

A root is where a turn with more than 20 pots behind began in hands of the bundle's `depth_limited` with itself, with
the ranges that the agent gives both. `exact` solves it with the rivers of `search.ahead`, to several precisions; `net`
ends it at the bundle's net of turns' ends, asked anew after every so many iterations, and wherever exploitability is
measured, or with so many iterations and no measuring; `river` asks an untrained net of the same size about every river,
which costs what a trained one does; `rivers solved` has exact rivers in the net's place: what a net that has learned
everything would lose. With one BLAS thread, as the processes of a match have, or waiting ones are counted as CPU time.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from conf.bundles import unbundle
from conf.compose import call, compose
from models.leaf.range_net import RANGE_NET, RangeMixer, RangeNet
from models.training.export import Architecture, export_net
from poker.depth_limit.evaluator import deeper
from poker.depth_limit.leaves.range_net import MeanOverDeals, RangeNetLeaf
from poker.depth_limit.range_inputs import stamp
from poker.game.betting import Betting
from poker.game.state import HandState
from poker.kernels.types import Board, Singles
from poker.play.hand import play_hand
from poker.report.estimates import estimate
from poker.run.atomic import write_atomically
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings
from poker.search.settings import SearchSettings
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import AskedLeaves
from poker.solvers.vector.solver import VectorSolver
from poker.tree import build_tree
from tests.bench.record import record
from tests.solvers.completed import completed
from tests.solvers.oracle import river_oracle

_TURN, _SHALLOW = 2, 20
_PRECISIONS = 0.01, 0.04
_NETS: tuple[tuple[int, int | None], ...] = ((3, None), (2, 60), (3, 60), (10, 60), (30, 60))
"""Iterations after which the net is asked again, and those of the solve; None: as many as the precision needs."""
_RIVER_ITERATIONS, _AROUND = 60, 100
"""Iterations of each river at the leaves, and of those that complete a turn."""
SETTINGS = ["scale=laptop", "search=demo", "artifacts=models/trained/laptop.bundle"]

Solve = Callable[[], VectorSolver]


@dataclass(frozen=True)
class Row:
    """`seconds` of CPU for the solve, the lesser of two, so that what is known of a board is known; `lost` in percent
    of the pot: half of what best responses of both win from the turn's strategies, completed by each player's best
    rivers."""

    root: int
    ends: str
    precision: float | None
    every: int | None
    iterations: int
    asks: int
    seconds: float
    lost: float | None


def roots(agent: Any, rules: Any, count: int, seed: int) -> Iterator[Request]:
    """Where turns with deep stacks begin."""
    rng, hands, met = np.random.default_rng(seed), 0, 0
    agent.reset(seed)
    while met < count:
        hands += 1
        end = play_hand([agent, agent], HandState.deal(rules, rng))
        board = end.runout[: rules.board_sizes[_TURN]]
        for before, *_ in end.betting.turns():
            if before.street != _TURN or before.actions[_TURN] or met == count:
                continue
            start, seat = Betting.at_street(rules, _TURN, before.committed), hands % 2
            if deeper(start, _SHALLOW):
                belief = agent._search[seat].belief(before, board)
                yield Request(start, rules.ordered_board(board), belief.ranges, seat)
                met += 1


def untrained(folder: str) -> RangeNet:
    """A net of rivers of the size of `net=range`."""
    architecture = Architecture(RangeMixer, width=64, blocks=3)
    options: dict[str, Any] = {"stamp": stamp("river"), "config": {}, "made_from": {}, "counts": {}}
    export_net(folder + "/river", RANGE_NET, architecture, architecture(), **options)
    return RangeNet(folder + "/river", "river")


def measured(
    number: int, request: Request, search: SearchSettings, ended: RangeNet, river: RangeNet, completes: bool
) -> Iterator[Row]:
    menu = search.menu.until(_TURN, search.ahead)
    solving = partial(DepthLimitedSolver, search.menu, search.ahead)
    likely = solving({}, search.solver)._likely(request.ranges, request.searcher)
    whole = VectorGame(build_tree(request.root, menu), request.board, likely, isomorphism=False)

    def row(ends: str, every: int | None, solve: Solve, precision: float | None, loses: bool = True) -> Row:
        spent, asks = [], 0
        for _ in range(1 if ends in ("river", "rivers solved") else 2):
            asks, begun = asked(), time.process_time()
            solver = solve()
            spent.append(time.process_time() - begun)
        lost = None
        if loses and completes:
            lost = 100 * completed(solver, whole, _AROUND).exploitability() / request.root.pot
        made = Row(number, ends, precision, every, solver.iterations, asked() - asks, min(spent), lost)
        print(made, flush=True)
        return made

    for precision in _PRECISIONS:
        solver = solving({}, replace(search.solver, precision=precision))
        yield row("exact", None, partial(solver.solved, request), precision)
    for every, iterations in _NETS:
        precise = search.solver.precision if iterations is None else None
        settings = search.solver
        if iterations is not None:
            settings = replace(settings, precision=0.0, iterations=(iterations,))
        asking = solving({_TURN: Counted(net=ended, every=every)}, settings)
        yield row("net", every, partial(asking.solved, request), precise)
        if completes and iterations is not None:
            yield row("rivers solved", every, partial(_oracle, asking, request, search, settings, every), precise)
    settings = replace(search.solver, precision=0.0, iterations=(60,))
    rivers = solving({_TURN: Counted(net=MeanOverDeals(river), every=60)}, settings)
    yield row("river", 60, partial(rivers.solved, request), None, loses=False)


class Counted(RangeNetLeaf):
    """Counts how often the net is asked."""

    asks = 0

    def asked(self, leaves: Sequence[Betting], board: Board, dead: int = 0) -> AskedLeaves:
        return counted(super().asked(leaves, board, dead))


def counted(leaves: AskedLeaves) -> AskedLeaves:
    def ask(ranges: Singles) -> Singles:
        Counted.asks += 1
        return leaves.ask(ranges)

    return replace(leaves, ask=ask)


def asked() -> int:
    return Counted.asks


def _oracle(
    asking: DepthLimitedSolver, request: Request, search: SearchSettings, settings: SolverSettings, every: int
) -> VectorSolver:
    likely, menu = asking._likely(request.ranges, request.searcher), search.menu.until(_TURN, search.ahead)
    tree = asking._tree(request)
    leaves = counted(river_oracle(tree, menu, request.board, likely, every, _RIVER_ITERATIONS))
    solver = VectorSolver(VectorGame(tree, request.board, likely, leaves), settings.algorithm)
    solver.run(settings.on(_TURN), settings.precision or None)
    return solver


def means(rows: list[Row]) -> list[dict[str, Any]]:
    """A row a setting: means over roots, `more` lost than by the exact solve, and shares of its time."""
    table = []
    settings = list(dict.fromkeys((row.ends, row.precision, row.every) for row in rows))
    exact = [row for row in rows if (row.ends, row.precision, row.every) == settings[0]]
    for ends, precision, every in settings:
        own = [row for row in rows if (row.ends, row.precision, row.every) == (ends, precision, every)]
        content = {"ends": ends, "precision": precision, "every": every, "roots": len(own)}
        content |= {
            key: float(np.mean([getattr(row, key) for row in own])) for key in ("iterations", "asks", "seconds")
        }
        content["median_seconds"] = float(np.median([row.seconds for row in own]))
        same = {row.root for row in own}
        content["of_exact"] = content["seconds"] / float(np.mean([row.seconds for row in exact if row.root in same]))
        lost = {row.root: row.lost for row in own if row.lost is not None}
        if lost:
            content["lost"] = estimate(list(lost.values())).record()
            more = [lost[row.root] - row.lost for row in exact if row.lost is not None]
            content |= {"more": estimate(more).record(), "completed": len(lost)}
        table.append(content)
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--roots", type=int, default=6)
    parser.add_argument("--losses", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = compose("evaluate", ["evaluate=match", "agents=[depth_limited,depth_limited_range_turn]", *SETTINGS])
    unbundle(config, writes=False)
    search, agent, rules = call(config.search), call(config.agent.depth_limited), call(config.game)
    ended = call(config.leaves.end_of_turn.net)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        river = untrained(folder)
        for number, request in enumerate(roots(agent, rules, options.roots, options.seed)):
            if number == 0:  # compiles, and is not counted
                list(islice(measured(number, request, search, ended, river, False), 3))
            rows += measured(number, request, search, ended, river, number < options.losses)
            if number or options.roots == 1:
                content = record(config.agent, means=means(rows), rows=[asdict(row) for row in rows], seed=options.seed)
                write_atomically(options.file, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
