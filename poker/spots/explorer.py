"""A spot solved in the background, to be watched, cancelled, walked through and exported: what the explorer shows.

Pages draw what is here and know no poker. `Solve` works in a thread of its own, the kernels without the interpreter's
lock, so that a server goes on answering; one spot is solved at a time in a process, others wait their turn.
"""

import csv
import io
import shlex
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from math import exp, isfinite, log
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poker.game.cards import cards_text
from poker.kernels.types import Columns
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import SolveProgress
from poker.spots.report import SEATS, Settings, prepare, write_results
from poker.spots.spots import Spot
from poker.spots.walk import View, Walk

State = Literal["waiting", "solving", "solved", "cancelled", "failed"]
_QUEUE: "deque[Solve]" = deque()
"""Solves that were started, in that order; the first one runs."""
_LOOK_SECONDS = 0.1
_SLOWEST_DECAY = 0.5
"""Exploitability is taken to fall at least with this power of the iterations, to estimate the time left."""


class Solve:
    """A solve of one spot. `course` grows with every measurement; `state` and `problem` say how it ended. Making one
    may take long, and raises PokernetsError once it is not `wanted` any more."""

    def __init__(self, spot: Spot, settings: Settings, wanted: Callable[[], bool] = lambda: True) -> None:
        self.spot = spot
        self.settings = settings
        self.solver, self.cost = prepare(spot, settings, wanted)
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
        self._thread.start()
        return self

    def cancel(self) -> None:
        """Ends the solve after the current iteration; what was reached can be walked through."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most `seconds`; returns whether the solve has ended."""
        self._thread.join(seconds)
        return self.ended

    @property
    def ended(self) -> bool:
        return self.state in ("solved", "cancelled", "failed")

    @property
    def exploitability(self) -> float:
        """Exploitability in pots at the last measurement; NaN before the first."""
        return self.course[-1].exploitability / self.spot.pot if self.course else float("nan")

    @property
    def elapsed(self) -> float:
        return self.seconds if self.ended or not self._begun else time.perf_counter() - self._begun

    @property
    def seconds_left(self) -> float:
        """Seconds left at the pace so far, if exploitability goes on falling as it did; NaN while unknown."""
        return seconds_left(self.course, self.settings.exploitability * self.spot.pot, self.settings.iterations)

    def view(self, words: Sequence[str]) -> View:
        """The view of `Walk.view`; threads take turns."""
        if self.walk is None:
            raise PokernetsError("nothing is solved yet")
        with self._reading:
            return self.walk.view(words)

    def write(self, out: Path) -> Path:
        """Write the solution and its report as `evaluate=spot` does; returns their folder."""
        if self.walk is None:
            raise PokernetsError("nothing is solved yet")
        folder, last, nodes = out / self.spot.name, self.course[-1], [""]
        settings = [f"{name}={value}" for name, value in vars(self.settings).items()]
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
        solver.run(self.settings.iterations, self.settings.exploitability, progress=self.course.append, stop=stopped)
        self.seconds = time.perf_counter() - self._begun
        if not solver.iterations:
            return
        if not self.course or self.course[-1].iterations < solver.iterations:  # cancelled between measurements
            self.course.append(SolveProgress(solver.iterations, self.seconds, solver.exploitability()))
        self.walk = Walk(self.spot, solver)


def seconds_left(course: Sequence[SolveProgress], limit: float, iterations: int) -> float:
    """Seconds until exploitability is `limit` chips or so many `iterations` are done; NaN while unknown."""
    if len(course) < 2 or course[-1].exploitability <= 0:
        return float("nan")
    last, before = course[-1], course[len(course) // 2 - 1]
    fall = log(max(before.exploitability / last.exploitability, 1e-9)) / log(last.iterations / before.iterations)
    needed = last.iterations * exp(min(log(last.exploitability / limit) / max(fall, _SLOWEST_DECAY), 30.0))
    pace = last.seconds / last.iterations
    return max(0.0, min(needed, iterations) - last.iterations) * pace


def view_record(view: View) -> dict[str, Any]:
    """A view as JSON values: frequencies and values over all hands, and columns by hand of either player."""
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
    """`View.totals` as JSON values."""
    return {action: {key: json_number(value) for key, value in row.items()} for action, row in view.totals.items()}


def view_csv(view: View) -> str:
    """A row for each hand of either player, with empty cells where nothing is known."""
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
    """A number to six digits; None where there is none, as JSON knows no NaN."""
    return float(f"{value:.6g}") if value is not None and isfinite(value) else None


def json_columns(table: Columns) -> dict[str, list[Any]]:
    """Columns of a table as JSON values, numbers to six digits."""
    return {
        name: [json_number(value) for value in column.tolist()] if np.issubdtype(column.dtype, np.floating)
        else column.tolist()
        for name, column in table.items()
    }  # fmt: skip
