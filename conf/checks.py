"""Checks of plain settings against the parameters that receive them, before anything is built."""

import inspect
import math
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hydra.utils import get_object

from poker.run.errors import PokernetsError

_PLAIN = (int, float, str, bool, NoneType)


def check(node: Any) -> None:
    """Check numbers and types for every `_target_` in plain settings.

    Parameters of other types than numbers, texts and lists of them check their values themselves.

    Args:
        node: settings as plain containers.

    Raises:
        PokernetsError: a number is out of range or a value has the wrong type; the message names the target and
            parameter.
    """
    if isinstance(node, dict) and "_target_" in node:
        hints = _hints(get_object(node["_target_"]))
        for key, value in node.items():
            is_number = isinstance(value, int | float)
            expected = _kind(value, hints.get(key, Any)) or ("a number" if is_number and math.isnan(value) else "")
            if key.endswith("seed") and is_number and value < 0:  # numpy refuses it without the name
                expected = "at least 0"
            if expected:
                raise PokernetsError(f"{node['_target_']}: '{key}' must be {expected}, not {value!r}")
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        check(value)


def _hints(target: Any) -> dict[str, Any]:
    try:
        return get_type_hints(target.__init__ if inspect.isclass(target) else target)
    except NameError:  # from names that are imported only for type checkers
        return {}


def _kind(value: Any, hint: Any) -> str:
    """Return the types that a parameter accepts if `value` has none of them; otherwise an empty string."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    allowed = {list if get_origin(part) in (list, tuple, Sequence) else part for part in parts}
    is_plain = allowed <= {*_PLAIN, list} and not isinstance(value, dict)
    if not is_plain or type(value) in (allowed | {int} if float in allowed else allowed):
        return ""
    return " or ".join(sorted("null" if kind is NoneType else kind.__name__ for kind in allowed))
