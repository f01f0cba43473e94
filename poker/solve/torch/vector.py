"""The vector engine on a GPU: many games at once, with the boards, update rule and action rows of `VectorSolver`.

Games of a batch may differ. An iteration takes six launches per level, and two for leaves. On a CUDA device it is
captured once and replayed as a graph, and so is the measurement of exploitability. It computes in float32, and its
strategies equal the ones from `VectorSolver` up to rounding.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poker.kernels.types import Floats, Singles
from poker.run.errors import PokernetsError
from poker.solve.torch import kernels
from poker.solve.torch.columns import ACTIONS, CARDS, REACH_ALONE
from poker.solve.torch.hands import cluster_width
from poker.solve.torch.tables import LevelWork, flatten
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.schedules import Schedule, schedule
from poker.solvers.vector.solver import SolveProgress, VectorSolver

FEWEST_BETWEEN = 20
"""Least number of iterations between two measurements without a time limit."""

SOLVE, BEST_RESPONSE, AVERAGE = (mode.value for mode in (kernels.SOLVE, kernels.BEST_RESPONSE, kernels.AVERAGE))

_GRAPH_ITERATIONS = 10
"""Iterations of a graph; remaining iterations are replayed one by one."""
_TILE = 16, 64
"""Rows and hands of a tile of all-ins."""
_ELEMENTS = 1024
"""Number of hand-actions that a program of `push` and `pull` processes at a time."""


class TorchVectorSolver:
    """Solves games together on a torch device.

    Args:
        algorithm: update schedule, as in `VectorSolver`.
    """

    def __init__(
        self, games: Sequence[VectorGame], algorithm: str | Schedule = "apdcfr", *, device: str | torch.device = "cuda"
    ) -> None:
        """Build the tables and copy them to the device.

        Raises:
            PokernetsError: the device is the CPU and the kernels are not interpreted.
        """
        self.games = tuple(games)
        self.schedule = schedule(algorithm)
        self.device = torch.device(device)
        self.iterations = 0
        self.launches = 0
        """Kernels launched or captured so far."""
        if (self.device.type == "cpu") != kernels.INTERPRETED:
            raise PokernetsError("the Triton kernels run on the CPU only with TRITON_INTERPRET=1; use device=cpu")
        self._tables = tables = flatten(self.games, _TILE)
        self._columns = {
            name: self._tensor(value)
            for name, value in vars(tables).items()
            if isinstance(value, np.ndarray) and name not in ("entries", "root_pairs")
        }
        self._hands = {name: self._tensor(value) for name, value in tables.hands.items()}
        self._levels = [(level, self._tensor(level.pairs), self._tensor(level.deals)) for level in tables.levels]
        self._ends = [self._tensor(ends) for ends in tables.ends]
        self._leaves = [self._tensor(leaves) for leaves in tables.leaves]
        self._roots = self._tensor(tables.root_pairs)
        self._all_ins = any((ends[:, 1] != REACH_ALONE).any() for ends in tables.ends)
        names = ("regrets", "sums", *(("source",) if self.schedule.predictive else ()))
        total = int(tables.entries[-1])
        self.rows = {name: torch.zeros(total, device=self.device) for name in names}
        """Action rows [entries] by name, in the layout of `VectorSolver.arrays`, game after game."""
        self._modelled: tuple[int, Tensor] | None = None
        self._reach, self._values = (torch.zeros(max(1, size), device=self.device) for size in tables.scratch)
        most = max(map(len, tables.leaves))
        self._clusters = cluster_width(tables.games)
        self._by_card = torch.zeros(max(1, most * CARDS * self._clusters), device=self.device)
        self._width = _power(int(tables.nodes[:, ACTIONS].max()), 2)
        self._parameters = torch.zeros((_GRAPH_ITERATIONS, 6), device=self.device)
        self._chips = torch.zeros((4, len(games)), dtype=torch.float64, device=self.device)
        self._pays = np.array([game.rake.fraction > 0 for game in games])
        """Games with rake, where the players' average values must be subtracted from the best-response values."""
        self._weights = np.array([game.total_weight for game in games])
        self._graphs: dict[object, torch.cuda.CUDAGraph] = {}

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def run(self, iterations: int) -> None:
        """Run more iterations for every game of the batch."""
        last = self.iterations + iterations
        while self.iterations < last:
            left = last - self.iterations
            count = _GRAPH_ITERATIONS if left >= _GRAPH_ITERATIONS else 1
            rows = torch.from_numpy(self.schedule.parameters(self.iterations + 1, count))
            self._parameters[:count].copy_(rows)
            self._replay(count, partial(self._iterate, count), partial(self._iterate, 1))
            self.iterations += count

    def _iterate(self, count: int) -> None:
        for number in range(count):
            for player in range(2):
                self._sweep(player, SOLVE, self._parameters[number])

    def _replay(self, key: object, work: Callable[[], None], trial: Callable[[], None]) -> None:
        """Do `work`; on a CUDA device it is captured as a graph the first time, and replayed from then on.

        `trial` runs before the capture and compiles the kernels.
        """
        if self.device.type != "cuda":
            work()
            return
        if key not in self._graphs:
            saved = {name: rows.clone() for name, rows in self.rows.items()}
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                trial()
            torch.cuda.current_stream().wait_stream(stream)
            self._graphs[key] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graphs[key]):
                work()
            for name, rows in saved.items():
                self.rows[name].copy_(rows)
        self._graphs[key].replay()

    def run_until(
        self,
        limits: Floats,
        seconds: float,
        most: int,
        reached: Callable[[int], None],
        progress: Callable[[SolveProgress], None] | None = None,
    ) -> list[SolveProgress]:
        """Iterate until every game has reached its limit, the time is up, or `most` iterations are done.

        Games are measured and stop at the same iterations whatever else is in the batch.

        Args:
            limits: [G] exploitability of each game in pots.
            seconds: time limit.
            most: most iterations.
            reached: called once with the number of each game, when it has reached its limit or the run is over.
            progress: called with every measurement of the first game.

        Returns:
            the last measurement of each game.
        """
        begin, block = time.perf_counter(), FEWEST_BETWEEN if seconds == np.inf else 1
        left, chips = np.ones(len(limits), np.bool_), limits * [game.pot for game in self.games]
        ends = [SolveProgress(0, 0.0, float("nan"))] * len(limits)
        while left.any():
            self.run(min(block, most - self.iterations))
            spent = time.perf_counter() - begin
            over = spent >= seconds or self.iterations >= most
            measured = self.exploitability()
            if progress is not None:
                progress(SolveProgress(self.iterations, time.perf_counter() - begin, float(measured[0])))
            done = left & (over | (measured <= chips))
            for number in np.flatnonzero(done).tolist():
                reached(number)
                ends[number] = SolveProgress(self.iterations, time.perf_counter() - begin, float(measured[number]))
            left &= ~done
            affordable = 0.5 * (seconds - spent) * self.iterations / spent
            block = max(1, int(min(affordable, max(FEWEST_BETWEEN, self.iterations // 5))))
        return ends

    def export(self, number: int, solver: VectorSolver) -> None:
        """Copy the state of one game's solve to a numba solver of the same game.

        Args:
            number: number of the game.
            solver: the numba solver.
        """
        start, end = self._tables.entries[number : number + 2]
        for name, array in solver.arrays.items():
            array[:] = self.rows[name][start:end].cpu().numpy()
        solver.iterations = self.iterations

    def restrict(self, player: int, modelled: Sequence[Singles]) -> None:
        """Let a part of one player's range play by a model in each game; see `VectorSolver.restrict`.

        Args:
            modelled: for each game [entries] reach of the modelled part.

        Raises:
            PokernetsError: an iteration has been done already.
        """
        if self.iterations:
            raise PokernetsError("restrict a player before the first iteration")
        self._modelled = player, self._tensor(np.concatenate(modelled))
        self._pays[:] = True

    def sweep(self, player: int, parameters: Singles) -> None:
        """Update one player in every game.

        Args:
            parameters: [6] parameters of the iteration.
        """
        self._parameters[0].copy_(torch.from_numpy(parameters))
        self._sweep(player, SOLVE, self._parameters[0])

    def exploitability(self) -> Floats:
        """Return half of the sum of both players' gains by best responses, as in `VectorSolver`.

        Returns:
            float64 [G] chips per hand.
        """
        self._replay("exploitability", self._measure, self._measure)
        chips = self._chips.cpu().numpy()
        gain = chips[0] + chips[1] - np.where(self._pays, chips[2] + chips[3], 0.0)
        return np.asarray(0.5 * gain / self._weights, np.float64)

    def _measure(self) -> None:
        for player in range(2):
            self._sweep(player, BEST_RESPONSE, self._parameters[0])
            self._root_chips(player, player)
        for player in range(2) if self._pays.any() else ():
            self._sweep(player, AVERAGE, self._parameters[0])
            self._root_chips(player, 2 + player)

    def _root_chips(self, player: int, row: int) -> None:
        columns = self._columns
        self.launches += 1
        kernels.root_chips[(len(self.games),)](
            self._roots, columns["boards"], columns["components"], columns["nodes"], columns["roots"], self._values,
            self._chips[row], player, HANDS=_power(self._tables.levels[0].width[player], 16),
        )  # fmt: skip

    def _sweep(self, p: int, mode: int, parameters: Tensor) -> None:
        """Compute values of p at the root; mode SOLVE also updates p's regrets and the other's average strategy."""
        for level, pairs, _ in self._levels:
            source = self._source if mode == SOLVE else self.rows["sums"]
            self._push(p, source, mode == SOLVE, parameters, level, pairs)
        self._terminals(p)
        for number in reversed(range(len(self._levels))):
            level, pairs, _ = self._levels[number]
            if number + 1 < len(self._levels):
                self._deal(p, self._levels[number + 1][0], self._levels[number + 1][2])
            self._pull(p, mode, parameters, level, pairs)

    def _hands_of(self, width: int) -> int:
        """Return the hands per program if the longest list has `width`."""
        return _power(width, 16) if self.device.type == "cpu" else min(_power(width, 16), _ELEMENTS // self._width)

    def _push(self, p: int, source: Tensor, adds: bool, parameters: Tensor, level: LevelWork, pairs: Tensor) -> None:
        columns, rows, width = self._columns, self.rows, level.width[1 - p]
        hands = self._hands_of(width)
        modelled = self._modelled is not None and self._modelled[0] == 1 - p
        beside = self._modelled[1] if self._modelled is not None and modelled else rows["sums"]
        self.launches += 1
        kernels.push[(len(pairs), -(-width // hands))](
            pairs, columns["boards"], columns["components"], columns["decisions"], columns["nodes"],
            columns["products"], self._hands["up"], columns["roots"], columns["vectors"],
            source, rows["sums"], beside, parameters, self._reach, p,
            ADDS=adds, MODELLED=modelled, WIDTH=self._width, HANDS=hands,
        )  # fmt: skip

    @property
    def _source(self) -> Tensor:
        return self.rows["source" if self.schedule.predictive else "regrets"]

    def _pull(self, p: int, mode: int, parameters: Tensor, level: LevelWork, pairs: Tensor) -> None:
        columns, rows, width = self._columns, self.rows, level.width[p]
        hands = self._hands_of(width)
        self.launches += 1
        kernels.pull[(len(pairs), -(-width // hands))](
            pairs, columns["boards"], columns["components"], columns["decisions"], columns["nodes"],
            columns["scales"], columns["mixed"], columns["mix"], columns["products"], columns["vectors"],
            rows["regrets"], self._source, rows["sums"], parameters, self._values, p,
            MODE=mode, PREDICTIVE=self.schedule.predictive, WIDTH=self._width, HANDS=hands,
        )  # fmt: skip

    def _deal(self, p: int, below: LevelWork, deals: Tensor) -> None:
        columns = self._columns
        width, members = below.orbits[p], below.members
        hands = _power(width, 16) if self.device.type == "cpu" else max(2, 32 // members)
        self.launches += 1
        kernels.deal[(len(deals), -(-width // hands))](
            deals, columns["boards"], columns["components"], columns["nodes"], columns["scales"], columns["weights"],
            columns["down"], columns["members"], self._values, p,
            MEMBERS=members, BOARDS=16 if self.device.type == "cpu" else 64, HANDS=hands,
        )  # fmt: skip

    def _terminals(self, p: int) -> None:
        columns, lists = self._columns, self._hands
        cards = lists["card0"], lists["card1"], lists["same"]
        width = max(max(level.width) for level in self._tables.levels)
        if len(self._ends[p]):
            self.launches += 1
            kernels.terminals[(len(self._ends[p]),)](
                self._ends[p], columns["boards"], columns["terminals"], *cards, lists["less_upto"], lists["by_card"],
                columns["card_start"], lists["card_less_upto"], columns["runouts"], self._reach, self._values, p,
                ALL_INS=self._all_ins, WIDTH=_power(width + 1, 16), ROWS=_TILE[0], TILE=_TILE[1], **_options(width),
            )  # fmt: skip
        if len(self._leaves[p]):
            self.launches += 1
            kernels.depth_limits[(len(self._leaves[p]),)](
                self._leaves[p], columns["boards"], columns["games"], columns["terminals"], *cards,
                lists[f"cluster{p}"], lists[f"cluster{1 - p}"], lists[f"by_cluster{1 - p}"], columns["card_start"],
                columns["cluster_starts"], columns["matrices"], self._reach, self._by_card, self._values, p,
                WIDTH=self._clusters, BLOCK=min(self._clusters, 64), HANDS=128,
            )  # fmt: skip


def _power(number: int, least: int) -> int:
    """Return the least power of two that is at least `number` and `least`."""
    return max(least, 1 << max(0, number - 1).bit_length())


def _options(width: int) -> dict[str, int]:
    """Return the fastest number of warps, and of registers per thread, for rows of `width` hands at terminals."""
    return {"num_warps": 2} if width < 1024 else {"num_warps": 4, "maxnreg": 128}
