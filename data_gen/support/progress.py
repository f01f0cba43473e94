"""Progress of a long job: a bar with its metrics on stderr, and TensorBoard scalars."""

import time
from pathlib import Path

from poker.report.scalars import ScalarLog
from poker.run.progress import progress_bars


class JobProgress:
    """A context manager that shows and logs the progress of a job.

    Args:
        title: name of the job.
        total: planned units of work.
        done: units that were done before.
        logs: folder of the TensorBoard files; None for no logs.
    """

    def __init__(self, title: str, *, total: float, done: float = 0, logs: str | Path | None = None) -> None:
        """Create the bar and the log."""
        self._progress = progress_bars("")
        self._task = self._progress.add_task(title, total=total, completed=int(done), found="")
        self._logs = None if logs is None else ScalarLog(Path(logs) / time.strftime("%Y%m%d-%H%M%S"))

    def __enter__(self) -> "JobProgress":
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar and close the log."""
        self._progress.stop()
        if self._logs is not None:
            self._logs.close()

    def update(self, done: float, *, step: int, **metrics: float) -> None:
        """Move the bar, show every metric beside it, and log the metrics.

        Args:
            done: units done so far.
            step: step of the logged values.
            metrics: values by name.
        """
        text = "  ".join(
            f"{name.replace('_per_second', '/s').replace('_', ' ')} {_short(value)}" for name, value in metrics.items()
        )
        self._progress.update(self._task, completed=done, found=text)
        if self._logs is not None:
            for name, value in metrics.items():
                group = "strength" if name.startswith(("nash_conv", "exploitability")) else "work"
                self._logs.add(f"{group}/{name}", value, step=step)
            self._logs.flush()


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.1f}{letter}"
    return f"{value:.4g}"
