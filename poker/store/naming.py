"""Import names that stay the same in a clone and in an installed wheel.

The wheel installs the packages of a clone inside `pokernets` (`pokernets/wheel.py`), so that a user's own `models` or
`conf` can be imported as well. Exported nets and manifests store the clone's names, such as `models.training.mlp.Mlp`,
which load in both.
"""

from pathlib import Path
from typing import Any

PACKAGES = ("conf", "data_gen", "models", "poker")
"""Packages at the top level of a clone that the wheel installs inside `pokernets`."""
_ABOVE = __name__.removesuffix("poker.store.naming")
_STORED = {"models.training.mlp": "models.mlp", "models.opponent.nets": "models.opponent_nets"}
"""Modules that have moved, with their old names, which stored files still use."""
_MOVED = {stored: module for module, stored in _STORED.items()}
_ROOT = Path(__file__).parents[2]


def importable(name: str) -> str:
    """Return the name under which a stored module, class or function is imported here.

    Names of a user's own modules are returned unchanged.
    """
    module, _, definition = name.rpartition(".")
    name = f"{_MOVED.get(module, module)}.{definition}" if module else name
    package, _, rest = name.partition(".")
    if not (_ABOVE and rest and package in PACKAGES):
        return name
    place = _ROOT / package / rest.partition(".")[0]
    return _ABOVE + name if place.is_dir() or place.with_suffix(".py").is_file() else name


def stable_name(definition: Any) -> str:
    """Return the name of a class or function that manifests and records store."""
    module = definition.__module__.removeprefix(_ABOVE)
    return f"{_STORED.get(module, module)}.{definition.__qualname__}"
