"""Command lines: in the order of Hydra's parser, which takes no flags among settings, in its grammar, which takes
`1_000` for a number, and as records hold them."""

import re
import shlex
import sys
from argparse import Action
from pathlib import Path

from hydra._internal.utils import get_args_parser

from poker.run.commands import PROGRAM, RUNS_PROGRAM
from poker.store.provenance import SECRETS


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


def command_line() -> str:
    """The command line that started this process, without secrets, as it was typed: `pokernets VERB` puts others into
    `sys.argv`."""
    if RUNS_PROGRAM:
        names = [Path(word).name for word in sys.orig_argv]
        typed = sys.orig_argv[names.index(PROGRAM) + 1 :] if PROGRAM in names else sys.argv[1:]
        return shlex.join([PROGRAM, *_public(typed)])
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = [Path(sys.argv[0]).name] if spec is None else ["-m", spec.name.removesuffix(".__main__")]
    return shlex.join(["python", *program, *_public(sys.argv[1:])])


def _public(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if argument.partition("=")[0].lstrip("+") not in SECRETS]
