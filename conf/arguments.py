"""Command lines in the order of Hydra's parser, which takes no flags among settings."""

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
