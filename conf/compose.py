"""Configurations composed from Python, and the objects that they describe."""

import errno
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException, InstantiationException
from hydra.utils import get_method, instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from poker.run.errors import PokernetsError, of_user_code
from poker.store.naming import importable

CONF = Path(__file__).resolve().parent
_KEPT = "what was written is kept, and the same command continues where it can"
_FREE_SPACE = "free space there, or write to another disk with outputs=DIR and runs=DIR; "


def _fastest_precision(accelerator: str) -> str:
    method = get_method(importable("models.training.run.fastest_precision"))  # its import takes seconds
    return str(method(accelerator))


OmegaConf.register_new_resolver("fastest_precision", _fastest_precision, replace=True)


def compose(root: str, overrides: list[str]) -> DictConfig:
    """Compose `conf/<root>.yaml` with the overrides of a command line.

    Args:
        root: name of the root file.
        overrides: words of a command line.

    Raises:
        PokernetsError: an override cannot be parsed, or names an unknown setting or option.
    """
    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
            return hydra.compose(root, overrides=overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise PokernetsError(message_of(error)) from error


def overrides_of(settings: Mapping[str, Any]) -> list[str]:
    """Return settings by name as overrides of a command line, in Hydra's grammar."""
    return [f"{name}={_word(value)}" for name, value in settings.items()]


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_word, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{name}:{_word(each)}' for name, each in value.items())}}}"
    return str(value) if isinstance(value, int | float) else QuotedString(str(value), Quote.double).with_quotes()


def build(node: Any) -> Any:
    """Instantiate a node, with plain containers as arguments.

    Args:
        node: settings with a `_target_`.

    Raises:
        PokernetsError: a constructor refuses its arguments.
    """
    try:
        return instantiate(node, _convert_="all")
    except InstantiationException as error:
        own = (cause for cause in _causes(error) if isinstance(cause, PokernetsError))
        raise next(own, PokernetsError(message_of(error))) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and the errors that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def message_of(error: BaseException) -> str:
    """Return one line about an error that the user can fix; empty for other errors."""
    for cause in _causes(error):
        if isinstance(cause, PokernetsError):
            return str(cause)
        # for example a full disk or a folder without write permission
        if isinstance(cause, OSError) and not isinstance(cause, HydraException):
            place = f"{cause.filename}: " if cause.filename else ""
            remedy = _FREE_SPACE if cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else ""
            return f"{place}{cause.strerror or cause}; {remedy}{_KEPT}"
    if line := of_user_code(error):
        return line
    of_lightning = type(error).__name__ == "MisconfigurationException"  # importing the class would take seconds
    if of_lightning or isinstance(error, HydraException | OmegaConfBaseException):
        text = f"{error} {error.__cause__ or ''}".partition("Config search path:")[0]
        return " ".join(text.split())
    return ""
