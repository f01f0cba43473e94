"""Dotted names as exported nets and manifests hold them: those of a clone.

The wheel holds the packages of a clone inside `pokernets` (`pokernets/wheel.py`), so that a user's own `models` or
`conf` stay importable. A net that says `models.training.mlp.Mlp` is loaded in both.
"""

from pathlib import Path
from typing import Any

PACKAGES = ("conf", "data_gen", "models", "poker")
"""Packages at the top level of a clone that the wheel holds inside `pokernets`."""
_ABOVE = __name__.removesuffix("poker.store.naming")
_STORED = {
    "models.training.mlp": "models.mlp",
    "models.opponent.nets": "models.opponent_nets",
}
"""Modules whose classes files name as they did before these moved, so that the files are the same."""
_MOVED = {stored: module for module, stored in _STORED.items()}
_ROOT = Path(__file__).parents[2]


def importable(name: str) -> str:
    """The name by which a module, class or function is imported here; names of a user's own modules as they are."""
    module, _, definition = name.rpartition(".")
    name = f"{_MOVED.get(module, module)}.{definition}" if module else name
    package, _, rest = name.partition(".")
    if not (_ABOVE and rest and package in PACKAGES):
        return name
    place = _ROOT / package / rest.partition(".")[0]
    return _ABOVE + name if place.is_dir() or place.with_suffix(".py").is_file() else name


def stable_name(definition: Any) -> str:
    """The name of a class or function that a manifest or record holds."""
    module = definition.__module__.removeprefix(_ABOVE)
    return f"{_STORED.get(module, module)}.{definition.__qualname__}"
