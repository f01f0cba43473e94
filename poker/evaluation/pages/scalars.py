"""Results as TensorBoard scalars, so that runs can be laid beside each other."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from tensorboard.summary import Writer

from poker.evaluation.statistics import Estimate

Scalar = float | Estimate | Sequence[tuple[int, float]] | None
"""A figure, an estimate (its interval is a scalar of its own, `.../half_width_95`), or a course of (step, figure)."""


def write_scalars(folder: Path, scalars: Mapping[str, Scalar]) -> None:
    """Writes figures by tag to `folder`, in place of all scalars that are there.

    Estimates stand at the number of their units, single figures at 0; what is None or not finite is left out.
    """
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
    if isinstance(scalar, Estimate):
        return [(tag, scalar.n, scalar.mean), (f"{tag}/half_width_95", scalar.n, scalar.half_width)]
    if isinstance(scalar, Sequence):
        return [(tag, step, value) for step, value in scalar]
    return [] if scalar is None else [(tag, 0, scalar)]
