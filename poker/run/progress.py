"""The console of messages, and the progress of long work: bars on a terminal; in a log a line after 10 seconds, then
now and then."""

import threading
import time
from collections.abc import Iterable
from datetime import timedelta

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from poker.run.errors import printable

_WIDE = 140
"""Width of a console, in characters, that shows what was found beside the bars."""
_FIRST, _SECONDS, _SHARE = 10.0, 60.0, 0.05
"""Seconds to the first line of a log, and least seconds from line to line, later this share of the time so far."""


class Console(rich.console.Console):  # noqa: TID251
    """A console on which control characters are question marks: messages have parts that strangers wrote, such as names
    and greetings, whose escape sequences would move the cursor, hide text or change the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


class _Stacked(Progress):
    """Bars, each with what was found below it."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if task.fields["found"]:
                yield Text(f"  {task.fields['found']}")


class _Lines(Progress):
    """Lines, not bars: a thread prints now and then what has moved, or what is waited for; `stop` prints the rest."""

    def __init__(self, unit: str, console: Console) -> None:
        super().__init__(console=console, auto_refresh=False, disable=True, speed_estimate_period=600)
        self._unit = unit
        self._printed: dict[TaskID, tuple[float, object]] = {}
        self._over = threading.Event()
        self._teller = threading.Thread(target=self._tell_now_and_then, daemon=True)

    def start(self) -> None:
        self._teller.start()

    def stop(self) -> None:
        self._over.set()
        if self._teller.is_alive():
            self._teller.join()
        self._tell(self._moved())

    def _tell_now_and_then(self) -> None:
        started, pause = time.monotonic(), _FIRST
        while not self._over.wait(pause):
            self._tell(self._moved() or [task for task in self.tasks if not task.finished][:1])
            pause = max(_SECONDS, _SHARE * (time.monotonic() - started))

    def _moved(self) -> list[Task]:
        return [task for task in self.tasks if self._printed.get(task.id) != (task.completed, task.fields["found"])]

    def _tell(self, tasks: list[Task]) -> None:
        for task in tasks:
            self._printed[task.id] = (task.completed, task.fields["found"])
            self.console.print(self._line(task), markup=False, highlight=False, soft_wrap=True)

    def _line(self, task: Task) -> str:
        latest = task.fields["found"]
        total = f"/{task.total:,.0f}" if task.total else ""
        parts = [f"{task.completed:,.0f}{total} {self._unit}".rstrip()]
        parts += [f"{task.percentage:.0f}%"] if total else []
        parts += [f"{task.speed:,.3g}/s"] if task.speed and "/s" not in latest else []
        parts.append(str(timedelta(seconds=int(task.elapsed or 0))))
        if task.time_remaining and not task.finished:
            parts.append(f"{timedelta(seconds=int(task.time_remaining))} left")
        return f"{task.description}: {', '.join(parts)}" + (f"; {latest}" if latest else "")


def progress_bars(unit: str, console: Console | None = None) -> Progress:
    """Bars of what is done in `unit`, on stderr unless a console is given; every task needs a field `found`, a text.

    Where the console is no terminal, lines instead.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        return _Lines(unit, console)
    is_wide = console.width >= _WIDE
    return (Progress if is_wide else _Stacked)(
        TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold")),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        *([TextColumn("{task.fields[found]}", markup=False)] if is_wide else []),
        console=console,
        refresh_per_second=4,
        speed_estimate_period=120,
    )
