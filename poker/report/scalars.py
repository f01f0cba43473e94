"""Results as TensorBoard scalars, so that runs can be laid beside each other."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from poker.report.estimates import Estimate

Scalar = float | Estimate | Sequence[tuple[int, float | Estimate]] | None
"""A number, an estimate (its interval is a scalar of its own, `.../half_width_95`), or a course of (step, either)."""


def write_scalars(folder: Path, scalars: Mapping[str, Scalar]) -> None:
    """Writes scalars by tag to `folder`, in place of all scalars that are there.

    Estimates stand at the number of their units, single numbers at 0; what is None or not finite is left out.
    """
    from tensorboard.summary import Writer  # noqa: PLC0415 (half a second)

    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("events.out.tfevents.*"):
        earlier.unlink()
    writer = Writer(str(folder))
    for tag, scalar in scalars.items():
        for name, step, value in _points(tag.replace(" ", "_"), scalar):
            if math.isfinite(value):
                writer.add_scalar(name, value, step=step)
    writer.close()


def _points(tag: str, scalar: Scalar) -> list[tuple[str, int, float]]:
    if scalar is None:
        return []
    if isinstance(scalar, Estimate):
        return _points(tag, [(scalar.n, scalar)])
    points: list[tuple[str, int, float]] = []
    for step, value in scalar if isinstance(scalar, Sequence) else [(0, scalar)]:
        if isinstance(value, Estimate):
            points += [(tag, step, value.mean), (f"{tag}/half_width_95", step, value.half_width)]
        else:
            points.append((tag, step, value))
    return points
