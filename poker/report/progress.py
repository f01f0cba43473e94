"""Progress bars, all alike."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

_WIDE = 140
"""Characters of a console that has what was found beside the bars."""


class _Stacked(Progress):
    """What was found stands below each bar."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if task.fields["found"]:
                yield Text(f"  {task.fields['found']}")


def progress_bars(unit: str, console: Console | None = None) -> Progress:
    """Bars of what is done in `unit`, on stderr unless a console is given; every task needs a field `found`, a text."""
    console = console or Console(stderr=True)
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
