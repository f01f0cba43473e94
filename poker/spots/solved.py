"""Post-flop spots solved from Python."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poker.kernels.ahead import compile_apart
from poker.kernels.types import Columns
from poker.run.errors import PokernetsError
from poker.run.machine import cores
from poker.solve import batches
from poker.solve.types import Budget
from poker.solvers.vector.solver import VectorSolver
from poker.spots.report import prepare
from poker.spots.spots import Spot, read_spot, spot_of
from poker.spots.walk import View, Walk


class SolvedSpot:
    """A solved spot.

    Attributes:
        exploitability: exploitability in chips.
        ev: EV in chips of the players out of position and in position.
    """

    def __init__(self, spot: Spot, solver: VectorSolver, exploitability: float) -> None:
        """Compute the players' EVs."""
        self.spot, self.solver, self.exploitability = spot, solver, exploitability
        self.ev = solver.game_value(0), solver.game_value(1)
        self._walk = Walk(spot, solver)

    def view(self, words: str = "") -> View:
        """Return ranges, strategy and values after a sequence of words.

        Args:
            words: actions and cards such as `check bet30 call 2c`; empty for the first decision.

        Raises:
            PokernetsError: a word is not possible; the message names the first.
        """
        return self._walk.view(words.split())

    def strategy(self, words: str = "") -> Columns:
        """Return the strategy of the player to act after a sequence of words, as a table with a row per hand.

        Args:
            words: actions and cards such as `check bet30 call 2c`; empty for the first decision.

        Returns:
            columns `hand`, `weight`, `ev` in chips, `equity` as a share of the pot, and for each action its probability
            and, as `ACTION ev`, its value in chips. Hands with less than 1e-4 of the largest weight are left out. The
            table is empty if nobody acts.

        Raises:
            PokernetsError: a word is not possible.
        """
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
    """Solve a spot.

    Args:
        spot: a spot file, or its keys (`poker.spots.spots`): board, oop_range, ip_range, pot, stack and bet sizes.
        exploitability: exploitability in pots at which the solve stops.
        iterations: most iterations.
        threads: threads of the solver; None for one per core.
        memory_gib: most memory in GiB.
        seconds: longest time to build the tree and solve; None for no limit.

    Raises:
        PokernetsError: the spot is invalid, needs more than `memory_gib`, or typically takes more than `seconds`.
    """
    read = spot_of(spot) if isinstance(spot, Mapping) else read_spot(str(spot))
    compile_apart()
    begun, limit = time.monotonic(), math.inf if seconds is None else seconds
    budget = Budget(iterations, exploitability, seconds, threads=threads or cores(), memory_limit_gib=memory_gib)

    def in_time() -> bool:
        if time.monotonic() > begun + limit:
            raise PokernetsError(f"the tree of this spot takes more than {limit:g} s to build: offer fewer bet sizes")
        return True

    solver, cost = prepare(read, budget, in_time)
    cost.refuse_beyond(limit)
    (done,) = batches.run([solver], [budget])
    return SolvedSpot(read, solver, done.exploitability)
