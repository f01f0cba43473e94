"""The console of messages, and the progress of long work: bars on a terminal, in a log a line now and then."""

import time
from collections.abc import Iterable
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from poker.run.errors import printable

_SECONDS = 30.0
"""Time between two printings to a log."""


class Console(rich.console.Console):  # noqa: TID251
    """A console on which control characters are question marks: messages have parts that strangers wrote, such as names
    and greetings, whose escape sequences would move the cursor, hide text or change the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


class _Bars(Progress):
    """Bars, each with what was found below it. Where the console is no terminal, they are printed now and then."""

    _printed = 0.0

    def start(self) -> None:
        self._printed = time.monotonic()
        super().start()

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if task.fields["found"]:
                yield Text(f"  {task.fields['found']}")

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        if not self.console.is_terminal and time.monotonic() - self._printed > _SECONDS:
            self._printed = time.monotonic()
            self.console.print(*self.get_renderables(), soft_wrap=True)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        self.update(task_id, advance=advance)


def progress_bars(unit: str, console: Console | None = None) -> Progress:
    """Bars of what is done in `unit`, on stderr unless a console is given; every task needs a field `found`, a text."""
    return _Bars(
        TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold")),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console or Console(stderr=True),
        refresh_per_second=4,
        speed_estimate_period=120,
    )
