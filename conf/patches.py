"""Patches of Hydra, applied where this module is imported; those of numba are in `poker.kernels`."""

from typing import Any

import hydra
from hydra._internal.hydra import Hydra
from hydra._internal.instantiate import _instantiate2
from hydra._internal.utils import _locate

from poker.store.naming import importable

_hydras_mode: Any = Hydra.get_mode


def _mode(its: Hydra, config_name: str | None, overrides: list[str]) -> Any:
    """Hydra's run mode; None, without composing the configuration once more, where no override can set it. A command
    that ends with an error takes a quarter less, a match of no hands 7%."""
    chooses = any(override.lstrip("+").startswith(("experiment=", "hydra.")) for override in overrides)
    return _hydras_mode(its, config_name, overrides) if chooses else None


def apply() -> None:
    """Patch Hydra, once or again."""
    setattr(Hydra, "get_mode", _mode)  # noqa: B010
    for module in (hydra.utils, _instantiate2):  # a `_target_` is looked up by the name that it has in a wheel
        setattr(module, "_locate", lambda path: _locate(importable(path)))  # noqa: B010
