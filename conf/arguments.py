"""Command lines in the order of Hydra's parser, which takes no flags among settings, and in its grammar, which takes
`1_000` for a number."""

import re
from argparse import Action

from hydra._internal.utils import get_args_parser


def flags_and_settings(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Flags of Hydra with their values, wherever they stand, and all other arguments."""
    options: dict[str, Action] = get_args_parser()._option_string_actions
    flags, settings, before = list[str](), list[str](), ""
    for argument in arguments:
        option = options.get(before)
        is_value = option is not None and (option.nargs is None or argument in (option.choices or ()))
        (flags if argument.startswith("-") or is_value else settings).append(argument)
        before = "" if is_value else argument
    return flags, settings


_UNDERSCORED = re.compile(r"(?<=[=,\[{(:])[+-]?[0-9][0-9.]*(?:_[0-9.]+)+(?:[eE][+-]?[0-9]+)?(?=[,\]}):]|$)")
_NUMBER = re.compile(r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+)?|inf|nan)", re.IGNORECASE)


def without_guesses(argument: str) -> str:
    """KEY=VALUE in which digits with underscores are text, as is every `player`: `player=1_1_1` is no player 111, and
    `hands=1_000` is refused by the type of the setting, as `hands=1e3` is."""
    key, equals, value = argument.partition("=")
    if not equals or key.startswith("-") or {"'", '"'} & set(value):
        return argument
    if key.rpartition(".")[2] == "player" and _NUMBER.fullmatch(value):
        return f'{key}="{value}"'
    return _UNDERSCORED.sub(r'"\g<0>"', argument)
