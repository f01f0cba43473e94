"""Post-flop spots solved exactly."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poker.kernels.ahead import compile_apart
from poker.kernels.types import Columns
from poker.run.errors import PokernetsError
from poker.run.machine import cores
from poker.solvers.vector.solver import VectorSolver
from poker.spots.report import Settings, prepare
from poker.spots.spots import Spot, read_spot, spot_of
from poker.spots.walk import View, Walk


class SolvedSpot:
    """A solved `spot`: `ev` of the players out of position and in position, and `exploitability`, all in chips."""

    def __init__(self, spot: Spot, solver: VectorSolver, exploitability: float) -> None:
        self.spot, self.solver, self.exploitability = spot, solver, exploitability
        self.ev = solver.game_value(0), solver.game_value(1)
        self._walk = Walk(spot, solver)

    def view(self, words: str = "") -> View:
        """All that is known after `words` such as `check bet30 call 2c`; PokernetsError names the first that is not
        possible."""
        return self._walk.view(words.split())

    def strategy(self, words: str = "") -> Columns:
        """A row for each `hand` with which the player to act after `words` comes there: its `weight`, `ev` in chips,
        `equity` as a share, for each action its probability and, as `ACTION ev`, its value. Hands whose weight is less
        than 1e-4 of the largest are left out; empty if nobody acts."""
        view = self.view(words)
        return {} if view.player is None else view.hands(view.player)


def solve(
    spot: Mapping[str, Any] | str | Path,
    *,
    exploitability: float = 0.003,
    iterations: int = 2000,
    threads: int | None = None,
    memory_gib: float = 8.0,
    seconds: float | None = None,
) -> SolvedSpot:
    """Solve a spot until it is exploitable for `exploitability` pots, or for so many `iterations` or `seconds`.

    `spot` is a file, or its keys (`poker.spots.spots`): board, oop_range, ip_range, pot, stack and bet
    sizes. PokernetsError says what is wrong with it, or that the solve needs more memory than `memory_gib`, or as a
    rule more than `seconds`.
    """
    if seconds is not None and not seconds > 0:
        raise PokernetsError(f"`seconds` must be positive, not {seconds}")
    read = spot_of(spot) if isinstance(spot, Mapping) else read_spot(str(spot))
    compile_apart()
    begun, limit = time.monotonic(), math.inf if seconds is None else seconds
    settings = Settings("apdcfr", exploitability, iterations, threads or cores(), memory_gib)

    def in_time() -> bool:
        if time.monotonic() > begun + limit:
            raise PokernetsError(f"the tree of this spot takes more than {limit:g} s to build: offer fewer bet sizes")
        return True

    solver, cost = prepare(read, settings, in_time)
    cost.refuse_beyond(limit)
    done = solver.run(iterations=iterations, exploitability=exploitability, seconds=seconds)
    return SolvedSpot(read, solver, done.exploitability)
