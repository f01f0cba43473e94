"""Progress bars, all alike."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def progress_bars(unit: str, console: Console | None = None) -> Progress:
    """Bars of what is done in `unit`, on stderr unless a console is given; every task needs a field `found`, a text."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[found]}", markup=False),
        console=console or Console(stderr=True),
        refresh_per_second=4,
        speed_estimate_period=120,
    )
