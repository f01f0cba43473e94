"""The report of hands that were played at a dealer or read from a log: results by name and what went wrong."""

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from poker.artifacts import write_atomically
from poker.evaluation.matches.page import add_first_decisions
from poker.evaluation.pages.html import Page, tell_files
from poker.provenance import provenance
from poker.report.charts import Series, intervals_and_means, png
from poker.report.estimates import Estimate, estimate
from poker.report.scalars import write_scalars
from poker.rules import Rules

_SHOWN_FAILURES = 100


def new_log(folder: Path, stem: str) -> Path:
    """Makes the empty file `stem`.log in `folder`; where a match of that name has been, `stem`-2.log, -3, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    number, path = 1, folder / f"{stem}.log"
    while True:
        if not path.with_suffix(".json").exists():
            with contextlib.suppress(FileExistsError):
                path.touch(exist_ok=False)
                return path
        number += 1
        path = folder / f"{stem}-{number}.log"


def mbb_per_hand(rules: Rules) -> float:
    """What one chip of a hand is."""
    return 1000.0 / max(rules.big_blind, 1)


def write_hands_report(
    stem: Path,
    title: str,
    rules: Rules,
    units: Mapping[str, Sequence[float]],
    settings: Mapping[str, Any],
    *,
    unit: str,
    log: Path | None = None,
    failures: Mapping[str, Sequence[str]] | None = None,
    console: Console,
) -> dict[str, Estimate]:
    """Writes `stem`.json, `stem`.html and TensorBoard scalars in `stem`, and says so.

    `units` are mbb per hand by name, one a `unit` (hand or deal). `log` is for the pictures of first decisions before
    the flop. Returns the estimates by name.
    """
    failures = failures or {}
    found = {name: estimate(values) for name, values in units.items()}
    record = {
        "game": rules.name,
        "definition": rules.to_acpc(),
        "unit": "mbb/hand",
        "results": [_row(name, result, unit, failures.get(name, ())) for name, result in found.items()],
        "failures": {name: list(what) for name, what in failures.items()},
        "settings": dict(settings),
        "log": None if log is None else str(log),
        **provenance(),
    }
    page = Page(title)
    page.heading("Results", f"mbb per hand with 95% intervals; a {unit} is one independent unit")
    page.table(
        ("result of", "mbb per hand", f"{unit}s", "failures"),
        [(name, result, result.n, len(failures.get(name, ()))) for name, result in found.items()],
    )
    played = [Series(name, np.asarray(values, dtype=np.float64)) for name, values in units.items() if values]
    if played:
        picture = png(intervals_and_means(title, "mbb per hand", f"{unit}s", played))
        page.png(picture, "intervals, and how the means settled")
    told = [(name, text) for name, texts in failures.items() for text in texts]
    if told:
        page.heading("Failures", f"the first {_SHOWN_FAILURES}" if len(told) > _SHOWN_FAILURES else "")
        page.table(("name", "what"), told[:_SHOWN_FAILURES])
    if log is not None:
        add_first_decisions(page, rules, [log])
    page.record(record)
    stem.parent.mkdir(parents=True, exist_ok=True)
    results, report = stem.with_name(f"{stem.name}.json"), stem.with_name(f"{stem.name}.html")
    write_atomically(results, json.dumps(record, indent=1).encode() + b"\n")
    page.write(report)
    write_scalars(stem, {f"{name}/mbb_per_hand": result for name, result in found.items()})
    tell_files(console, (("results", results), ("report", report), ("TensorBoard", stem)))
    return found


def _row(name: str, result: Estimate, unit: str, failures: Sequence[str]) -> dict[str, Any]:
    return {
        "name": name,
        "mean": result.mean,
        "half_width_95": result.half_width if math.isfinite(result.half_width) else None,
        f"{unit}s": result.n,
        "failures": len(failures),
    }
