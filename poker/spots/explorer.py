"""The explorer's back end: a spot is solved in the background and can be watched, cancelled, explored and exported.

The pages only draw what this module returns. `Solve` runs in its own thread, and its kernels release the interpreter's
lock, so that a server keeps responding. A process solves one spot at a time; other spots wait in a queue.
"""

import csv
import io
import shlex
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from math import exp, isfinite, log
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poker.game.cards import cards_text
from poker.kernels.types import Columns
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError
from poker.solve import batches
from poker.solve.types import Budget
from poker.solvers.vector.solver import SolveProgress
from poker.spots.report import SEATS, prepare, write_results
from poker.spots.spots import Spot
from poker.spots.walk import View, Walk

State = Literal["waiting", "solving", "solved", "cancelled", "failed"]
_QUEUE: "deque[Solve]" = deque()
"""Started solves in their order; the first one runs."""
_LOOK_SECONDS = 0.1
_SLOWEST_DECAY = 0.5
"""Estimates of the time left assume that exploitability falls at least with this power of the iterations."""


class Solve:
    """The solve of one spot in a background thread.

    `course` gets an entry with every measurement of exploitability. `state` and `problem` report how the solve ended.

    Args:
        budget: limits of the solve.
        wanted: called while the tree is built; False stops the construction.
    """

    def __init__(self, spot: Spot, budget: Budget, wanted: Callable[[], bool] = lambda: True) -> None:
        """Build the game, which may take long for a large tree.

        Raises:
            PokernetsError: the spot is invalid or too large, or no longer `wanted`.
        """
        self.spot = spot
        self.budget = budget
        self.solver, self.cost = prepare(spot, budget, wanted)
        self.course: list[SolveProgress] = []
        self.state: State = "waiting"
        self.problem = ""
        self.seconds = 0.0
        self.walk: Walk | None = None
        self._reading = threading.Lock()
        self._begun = 0.0
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="explorer")

    def start(self) -> "Solve":
        """Put the solve in the queue and return it."""
        self._thread.start()
        return self

    def cancel(self) -> None:
        """Stop after the current iteration; the strategy so far can still be explored."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end and return whether the solve has ended.

        Args:
            seconds: longest time to wait; None waits until the end.
        """
        self._thread.join(seconds)
        return self.ended

    @property
    def ended(self) -> bool:
        """Whether the solve has ended, for any reason."""
        return self.state in ("solved", "cancelled", "failed")

    @property
    def exploitability(self) -> float:
        """Exploitability in pots at the last measurement; NaN before the first."""
        return self.course[-1].exploitability / self.spot.pot if self.course else float("nan")

    @property
    def elapsed(self) -> float:
        """Seconds since the solve began, or its total time once it has ended."""
        return self.seconds if self.ended or not self._begun else time.perf_counter() - self._begun

    @property
    def seconds_left(self) -> float:
        """Estimated seconds left, if exploitability keeps falling at its present rate; NaN while unknown."""
        pots, most = self.budget.exploitability, self.budget.iterations
        assert pots is not None
        assert most is not None
        return seconds_left(self.course, pots * self.spot.pot, most)

    def view(self, words: Sequence[str]) -> View:
        """Return the view of `Walk.view`; only one thread at a time computes one.

        Args:
            words: actions and cards that lead to the state.

        Raises:
            PokernetsError: there is no solution yet, or a word is not possible.
        """
        if self.walk is None:
            raise PokernetsError("no solution yet")
        with self._reading:
            return self.walk.view(words)

    def write(self, out: Path) -> Path:
        """Write the solution and its report as `evaluate=spot` does.

        Args:
            out: folder below which they go.

        Returns:
            the folder of the spot.

        Raises:
            PokernetsError: there is no solution yet.
        """
        if self.walk is None:
            raise PokernetsError("no solution yet")
        folder, last, nodes = out / self.spot.name, self.course[-1], [""]
        settings = [f"{name}={value}" for name, value in vars(self.budget).items() if value is not None]
        places = [f"spot={folder}/results.json", f"evaluate.out={out}"]
        command = [*COMMANDS["evaluate"].split(), "evaluate=spot", *places, *settings]
        course = [(one.iterations, 100 * one.exploitability / self.spot.pot) for one in self.course]
        with self._reading:
            write_results(self.spot, self.solver, last, self.seconds, course, nodes, out, shlex.join(command))
        return folder

    def _run(self) -> None:
        _QUEUE.append(self)
        try:
            while not self._cancelled.is_set():
                if _QUEUE[0] is self:
                    self._solve()
                    break
                time.sleep(_LOOK_SECONDS)
            self.state = "cancelled" if self._cancelled.is_set() else "solved"
        except Exception as error:
            self.problem = str(error) if isinstance(error, PokernetsError) else f"{type(error).__name__}: {error}"
            self.state = "failed"
        finally:
            _QUEUE.remove(self)

    def _solve(self) -> None:
        self._begun, self.state = time.perf_counter(), "solving"
        stopped, solver = self._cancelled.is_set, self.solver
        batches.run([solver], [self.budget], self.course.append, stopped)
        self.seconds = time.perf_counter() - self._begun
        if not solver.iterations:
            return
        if not self.course or self.course[-1].iterations < solver.iterations:  # cancelled between measurements
            self.course.append(SolveProgress(solver.iterations, self.seconds, solver.exploitability()))
        self.walk = Walk(self.spot, solver)


def fitting_menu(spot: Spot, budget: Budget, wanted: Callable[[], bool]) -> str:
    """Describe the largest part of a spot's menu, the same on all streets, whose solve fits the memory limit.

    Args:
        spot: a spot that needs more memory.
        budget: limits of the solve.
        wanted: called while trees are built; False stops.
    """
    bets, raises = (str(spot.text.get(key, "")).replace(" ", "").split(",") for key in ("bet", "raise"))
    rest = {key: value for key, value in spot.text.items() if not key.endswith(("bet", "raise", "donk"))}
    menus = product(range(len(bets), 0, -1), (raises, raises[:1], ["a"], []))
    for most, reraises in menus:
        bet, then = ",".join(bets[:most]), ",".join(reraises)
        with suppress(PokernetsError):
            _, cost = prepare(Spot({**rest, "bet": bet, "raise": then}), budget, wanted)
            menu = f"bets {bet} and {f'raises {then}' if then else 'no raise'}"
            return f"With {menu} it fits: {cost.bytes / 2**20:,.0f} MiB."
    return "No part of this menu fits: narrow the ranges."


def seconds_left(course: Sequence[SolveProgress], limit: float, iterations: int) -> float:
    """Estimate the seconds until a solve stops.

    Args:
        course: measurements of exploitability so far.
        limit: exploitability in chips at which the solve stops.
        iterations: iterations at which it stops.

    Returns:
        seconds; NaN with fewer than two measurements or without exploitability.
    """
    if len(course) < 2 or course[-1].exploitability <= 0:
        return float("nan")
    last, before = course[-1], course[len(course) // 2 - 1]
    fall = log(max(before.exploitability / last.exploitability, 1e-9)) / log(last.iterations / before.iterations)
    needed = last.iterations * exp(min(log(last.exploitability / limit) / max(fall, _SLOWEST_DECAY), 30.0))
    pace = last.seconds / last.iterations
    return max(0.0, min(needed, iterations) - last.iterations) * pace


def view_record(view: View) -> dict[str, Any]:
    """Return a view as JSON values: totals over all hands, and columns by hand for both players."""
    return {
        "words": " ".join(view.words),
        "board": cards_text(view.board),
        "pot": view.pot,
        "player": None if view.player is None else SEATS[view.player],
        "actions": totals(view),
        "next_cards": {
            cards_text([deal.card]): {
                "ev": list(map(json_number, deal.ev)),
                "equity": list(map(json_number, deal.equity)),
            }
            for deal in view.deals
        },
        **{SEATS[player].lower(): json_columns(view.hands(player)) for player in range(2)},
    }


def totals(view: View) -> dict[str, dict[str, float | None]]:
    """Return `View.totals` as JSON values."""
    return {action: {key: json_number(value) for key, value in row.items()} for action, row in view.totals.items()}


def view_csv(view: View) -> str:
    """Return a CSV row for each hand of either player; unknown values are empty cells."""
    columns = [json_columns(view.hands(player)) for player in range(2)]
    out = io.StringIO()
    table = csv.DictWriter(out, ["player", *max(columns, key=len)], lineterminator="\n")
    table.writeheader()
    for seat, of_seat in zip(SEATS, columns, strict=True):
        table.writerows(
            {"player": seat, **dict(zip(of_seat, row, strict=True))} for row in zip(*of_seat.values(), strict=True)
        )
    return out.getvalue()


def json_number(value: float | None) -> float | None:
    """Round a number to six digits; None for NaN and infinity, which JSON lacks."""
    return float(f"{value:.6g}") if value is not None and isfinite(value) else None


def json_columns(table: Columns) -> dict[str, list[Any]]:
    """Return the columns of a table as JSON values, with numbers rounded to six digits."""
    return {
        name: [json_number(value) for value in column.tolist()] if np.issubdtype(column.dtype, np.floating)
        else column.tolist()
        for name, column in table.items()
    }  # fmt: skip
