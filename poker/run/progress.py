"""The console for messages, and progress of long work: bars on a terminal, an occasional line in a log."""

import time
from collections.abc import Iterable
from typing import Any

import rich.console
import rich.progress
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from poker.run.errors import printable

_SECONDS = 30.0
"""Seconds between two lines in a log."""


class Console(rich.console.Console):  # noqa: TID251
    """A console that prints control characters as question marks.

    Messages contain names and greetings written by strangers. Escape sequences in them could move the cursor, hide text
    or change the terminal.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as Rich does, with control characters replaced."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


class _Bars(rich.progress.Progress):
    """Progress bars, each with its latest finding below it; printed every `_SECONDS` where there is no terminal."""

    _printed = 0.0

    def start(self) -> None:
        self._printed = time.monotonic()
        super().start()

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if task.fields["found"]:
                yield Text(f"  {task.fields['found']}")

    def update(self, task_id: rich.progress.TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        if not self.console.is_terminal and time.monotonic() - self._printed > _SECONDS:
            self._printed = time.monotonic()
            self.console.print(*self.get_renderables(), soft_wrap=True)

    def advance(self, task_id: rich.progress.TaskID, advance: float = 1) -> None:
        self.update(task_id, advance=advance)


def progress_bars(unit: str, console: Console | None = None) -> rich.progress.Progress:
    """Make progress bars; every task needs a text field `found`, which is shown below its bar.

    Args:
        unit: name of what is counted.
        console: console to print to; None for stderr.
    """
    return _Bars(
        rich.progress.TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold")),
        rich.progress.BarColumn(20),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TextColumn(unit),
        rich.progress.TimeElapsedColumn(),
        rich.progress.TimeRemainingColumn(),
        console=console or Console(stderr=True),
        refresh_per_second=4,
        speed_estimate_period=120,
    )
