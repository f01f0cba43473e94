"""Tables of cases as data: `NAME.json` beside `NAME.py` has, by test, rows of values by the name of the argument."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pytest

P = ParamSpec("P")
R = TypeVar("R")


def cases(test: Callable[P, R]) -> Callable[P, R]:
    """Run a test once for each row of its table; a row may have a `title`. Arrays are tuples here."""
    rows = table(inspect.getfile(test), test.__name__)
    names = [name for name in rows[0] if name != "title"]
    each = [pytest.param(*(_frozen(row[name]) for name in names), id=row.get("title")) for row in rows]
    mark: Callable[[Callable[P, R]], Callable[P, R]] = pytest.mark.parametrize(names, each)
    return mark(test)


def table(file: str, name: str) -> Any:
    """A value of the JSON beside a file."""
    return json.loads(Path(file).with_suffix(".json").read_text())[name]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
