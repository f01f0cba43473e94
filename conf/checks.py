"""Checks of plain settings against the parameters that receive them, before anything is built."""

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hydra.utils import get_object

from poker.run.errors import PokernetsError

_PLAIN = (int, float, str, bool, NoneType)
_LEAST = {"patience": 0, "weight_decay": 0, "lr": 0}
_LEAST |= dict.fromkeys(("threads", "batch_rows", "epoch_rows", "shards", "accumulate_grad_batches"), 1)
_POSITIVE = ("learning_rate", "huber_delta", "memory_limit_gib")


def check(node: Any) -> None:
    """Check numbers and types for every `_target_` in plain settings.

    Parameters of other types than numbers, texts and lists of them check their values themselves.

    Args:
        node: settings as plain containers.

    Raises:
        PokernetsError: a `_target_` cannot be imported, a number is out of range or a value has the wrong type; the
            message names the target and parameter.
    """
    if isinstance(node, dict) and "_target_" in node:
        hints = _hints(node["_target_"])
        for key, value in node.items():
            expected = _range(key, value) or _kind(value, hints.get(key, Any))
            later = value is None and node.get("_partial_")  # the caller replaces a null, such as a number of steps
            if expected and not later:
                raise PokernetsError(f"{node['_target_']}: '{key}' must be {expected}, not {value!r}")
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        check(value)


def check_names(kind: str, settings: Mapping[str, Any], others: Collection[str] = ()) -> None:
    """Check that settings by name belong to parts that exist.

    Args:
        kind: the key of the settings in the configuration, such as `agent`.
        settings: settings by name; a chosen part has a `_target_`.
        others: names of parts that are not chosen and may have settings all the same.

    Raises:
        PokernetsError: a name is unknown; the message gives the nearest known name.
    """
    chosen = [name for name, node in settings.items() if isinstance(node, Mapping) and "_target_" in node]
    names = {*chosen, *others}
    for name in settings.keys() - names:
        nearest = "".join(f"; did you mean {kind}.{match}?" for match in get_close_matches(name, names, 1))
        raise PokernetsError(f"{kind}.{name} has settings, but there is no such {kind}{nearest}")


def _hints(name: str) -> dict[str, Any]:
    try:
        target = get_object(name)
        return get_type_hints(target.__init__ if inspect.isclass(target) else target)
    except NameError:  # from names that are imported only for type checkers
        return {}
    except ImportError as error:
        raise PokernetsError(" ".join(str(error).split())) from None


def _range(key: str, value: Any) -> str:
    """Return the range that a parameter needs if `value` is outside it; otherwise an empty string."""
    if not isinstance(value, int | float):
        return ""
    if key in _POSITIVE and not 0 < value < math.inf:
        return "positive"
    if key in _LEAST and not _LEAST[key] <= value < math.inf:
        return f"at least {_LEAST[key]}"
    return "at least 0" if key.endswith("seed") and value < 0 else "a number" if math.isnan(value) else ""


def _kind(value: Any, hint: Any) -> str:
    """Return the types that a parameter accepts if `value` has none of them; otherwise an empty string."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    allowed = {list if get_origin(part) in (list, tuple, Sequence) else part for part in parts}
    is_plain = allowed <= {*_PLAIN, list} and not isinstance(value, dict)
    if not is_plain or type(value) in (allowed | {int} if float in allowed else allowed):
        return ""
    return " or ".join(sorted("null" if kind is NoneType else kind.__name__ for kind in allowed))
