"""Checks of plain settings against the signatures of the classes and functions that they are given to."""

import difflib
import inspect
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, NamedTuple, Union, Unpack, get_args, get_origin, get_type_hints

import hydra

from poker.run.errors import PokernetsError

_PLAIN = (int, float, str, bool, NoneType)
_LISTS = (list, tuple, Sequence)
_LEAST = {"threads": 1, "batch_rows": 1, "epoch_rows": 1, "shards": 1, "patience": 0, "weight_decay": 0}
_POSITIVE = ("learning_rate", "huber_delta")
_HERE = ("cpu", "torch")
"""Devices that every machine has."""


class ConfigurationError(PokernetsError):
    """The command line asks for something that the configuration does not know."""


def check_ranges(node: Any, name: str = "") -> None:
    """Refuse numbers out of range and devices that the machine does not have, anywhere in plain values; `name` is the
    target around them. Imports torch for other devices than `cpu` alone."""
    if isinstance(node, list):
        for value in node:
            check_ranges(value, name)
    if not isinstance(node, dict):
        return
    name = str(node.get("_target_", name))
    for key, value in node.items():
        if isinstance(value, int | float):
            if math.isnan(value) and key not in _POSITIVE:
                raise ConfigurationError(f"{name}: '{key}' must be a number, not nan")
            if key in _LEAST and not _LEAST[key] <= value < math.inf:
                raise ConfigurationError(f"{name}: '{key}' must be at least {_LEAST[key]}, not {value}")
            if key in _POSITIVE and not 0 < value < math.inf:
                raise ConfigurationError(f"{name}: '{key}' must be positive, not {value}")
        if key == "device" and isinstance(value, str) and value not in _HERE:
            from poker.search.torch.device import check_device  # noqa: PLC0415 (torch)

            check_device(value)
        check_ranges(value, name)


def check(node: Any) -> None:
    """Refuse numbers out of range, and unknown, missing and mistyped keys of plain values and of every `_target_` in
    them; builds nothing."""
    check_ranges(node)
    _check_targets(node)


def _check_targets(node: Any) -> None:
    if isinstance(node, dict) and "_target_" in node:
        _check_keys(node, hydra.utils.get_object(node["_target_"]))
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _check_targets(value)


def _check_keys(node: dict[str, Any], target: Any) -> None:
    accepted, name = arguments_of(target), node["_target_"]
    keys = [str(key) for key in node if not str(key).startswith("_")]
    for key in keys:
        if key not in accepted.types and not accepted.any_others:
            raise ConfigurationError(f"{name} has no parameter '{key}'{nearest(key, accepted.types)}")
    for key in accepted.needed:
        if key not in keys and not node.get("_partial_"):
            raise ConfigurationError(f"{name} needs a value for '{key}'")
    for key in keys:
        _check_plain_value(name, key, node[key], accepted.types.get(key, Any))


class Arguments(NamedTuple):
    """Types by keyword, the keywords that must be given, and whether any others are taken."""

    types: dict[str, Any]
    needed: list[str]
    any_others: bool


def arguments_of(target: Any) -> Arguments:
    """Arguments of `target`. The type of `**` says what it takes: `Unpack` of names and types, or `Annotated` with the
    class or function that is given them."""
    hints = _hints(target.__init__ if inspect.isclass(target) else target)
    arguments = Arguments({}, [], any_others=False)
    for key, parameter in inspect.signature(target).parameters.items():
        hint = hints.get(key, Any)
        if parameter.kind is not parameter.VAR_KEYWORD:
            arguments.types[key] = hint
            arguments.needed.extend([key] if parameter.default is parameter.empty else [])
            continue
        if get_origin(hint) is Unpack:
            [named] = get_args(hint)
            passed, needed = get_type_hints(named), [*named.__required_keys__]
        elif get_origin(hint) is Annotated:
            passed, needed = arguments_of(hint.__metadata__[0]).types, []
        else:
            return arguments._replace(any_others=True)
        arguments = arguments._replace(types={**passed, **arguments.types}, needed=arguments.needed + needed)
    return arguments


def _hints(function: Any) -> dict[str, Any]:
    """Types of arguments by name; Any where they name what is imported for type checkers alone."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        hints: dict[str, Any] = {}
        for name, hint in inspect.get_annotations(function).items():
            alone = SimpleNamespace(__annotations__={name: hint}, __globals__=inspect.unwrap(function).__globals__)
            with suppress(NameError):
                hints |= get_type_hints(alone, include_extras=True)
        return hints


def _check_plain_value(name: str, key: str, value: Any, hint: Any) -> None:
    """Refuse text where a number is wanted, a number where a list is, negative seeds and the like; parameters of other
    types check their values themselves."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    allowed = {list if get_origin(part) in _LISTS else part for part in parts}
    if not allowed <= {*_PLAIN, list} or (list in allowed and isinstance(value, dict)):
        return
    if type(value) not in (allowed | {int} if float in allowed else allowed):
        wanted = " or ".join(sorted("null" if kind is NoneType else kind.__name__ for kind in allowed))
        raise ConfigurationError(f"{name}: '{key}' must be {wanted}, not {value!r}")
    if isinstance(value, int) and value < 0 and key.endswith("seed"):
        raise ConfigurationError(f"{name}: '{key}' must be at least 0, not {value}")


def nearest(word: str, words: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, words, n=1)
    return f"; did you mean '{close[0]}'?" if close else "."
