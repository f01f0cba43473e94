"""Tables of cases as data: `NAME.json` beside `NAME.py` has, by test, the names of its arguments and rows of values."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pytest

P = ParamSpec("P")
R = TypeVar("R")


def cases(test: Callable[P, R]) -> Callable[P, R]:
    """Run a test once for each row of its table: an array, which is a tuple here, or `{"what it is": array}`."""
    names, *rows = json.loads(Path(inspect.getfile(test)).with_suffix(".json").read_text())[test.__name__]
    mark: Callable[[Callable[P, R]], Callable[P, R]] = pytest.mark.parametrize(names, [*map(_case, rows)])
    return mark(test)


def _case(row: Any) -> Any:
    title, values = next(iter(row.items())) if isinstance(row, dict) else (None, row)
    values = _frozen(values)
    return pytest.param(*(values if isinstance(values, tuple) else (values,)), id=title)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
