"""Results as TensorBoard scalars, so that runs can be laid beside each other.

Tags begin with a group, and TensorBoard shows groups by the alphabet: `strength` of what was measured,
`uncertainty` (half-widths of 95% intervals), `work` of jobs. Only courses are shown: reports tell the rest.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from poker.report.estimates import Estimate

Scalar = float | Estimate | Sequence[tuple[int, float | Estimate]] | None
"""A course of (step, value), or a single value, of which no chart is made."""


class ScalarLog:
    """Scalars of `folder`; no file is made before the first."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = str(folder)
        self._writer: Any = None

    def add(self, tag: str, value: float, *, step: int) -> None:
        """Add a point to a tag, unless `value` is not finite."""
        if not math.isfinite(value):
            return
        if self._writer is None:
            from tensorboard.summary import Writer  # noqa: PLC0415 (a fifth of a second)

            self._writer = Writer(self._folder)
        self._writer.add_scalar(tag, value, step=step)

    def add_strength(self, name: str, value: float | Estimate, *, step: int) -> None:
        """Add a point to a measure, with its interval if it has one."""
        name = name.replace(" ", "_")
        if isinstance(value, Estimate):
            self.add(f"uncertainty/{name}", value.half_width, step=step)
            value = value.mean
        self.add(f"strength/{name}", value, step=step)

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def write_scalars(folder: Path, scalars: Mapping[str, Scalar]) -> bool:
    """Write courses of measures by name to `folder`, in place of all scalars that are there; whether there were any."""
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("events.out.tfevents.*"):
        earlier.unlink()
    with closing(ScalarLog(folder)) as log:
        for name, course in scalars.items():
            for step, value in course if isinstance(course, Sequence) and len(course) > 1 else ():
                log.add_strength(name, value, step=step)
    return any(folder.glob("events.out.tfevents.*"))
