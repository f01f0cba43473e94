"""Results as TensorBoard scalars, so that runs can be compared.

Tags begin with a group, and TensorBoard sorts groups by name: `strength` for results, `uncertainty` for half-widths of
95% intervals, `work` for jobs. Only series of several steps are written, because reports show single values.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from poker.report.estimates import Estimate

Scalar = float | Estimate | Sequence[tuple[int, float | Estimate]] | None
"""A series of (step, value), or a single value, which has no chart."""


class ScalarLog:
    """Scalars in a folder; the file is created with the first one."""

    def __init__(self, folder: str | Path) -> None:
        """Store the folder.

        Args:
            folder: folder of the event file.
        """
        self._folder = str(folder)
        self._writer: Any = None

    def add(self, tag: str, value: float, *, step: int) -> None:
        """Add a point to a tag, unless the value is not finite.

        Args:
            tag: group and name.
            value: value of the point.
            step: step of the point.
        """
        if not math.isfinite(value):
            return
        if self._writer is None:
            from tensorboard.summary import Writer  # noqa: PLC0415 (a fifth of a second)

            self._writer = Writer(self._folder)
        self._writer.add_scalar(tag, value, step=step)

    def add_strength(self, name: str, value: float | Estimate, *, step: int) -> None:
        """Add a point to a result, with its half-width if it has an interval.

        Args:
            name: name of the result.
            value: value of the point.
            step: step of the point.
        """
        name = name.replace(" ", "_")
        if isinstance(value, Estimate):
            self.add(f"uncertainty/{name}", value.half_width, step=step)
            value = value.mean
        self.add(f"strength/{name}", value, step=step)

    def flush(self) -> None:
        """Write all points to disk."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()


def write_scalars(folder: Path, scalars: Mapping[str, Scalar]) -> bool:
    """Write series of results to a folder, in place of all scalars there.

    Args:
        folder: folder of the event file.
        scalars: results by name. Single values are skipped.

    Returns:
        Whether a scalar was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("events.out.tfevents.*"):
        earlier.unlink()
    with closing(ScalarLog(folder)) as log:
        for name, course in scalars.items():
            for step, value in course if isinstance(course, Sequence) and len(course) > 1 else ():
                log.add_strength(name, value, step=step)
    return any(folder.glob("events.out.tfevents.*"))
