"""Dotted names as configuration, manifests and records hold them: those of a clone.

The wheel holds the packages of a clone inside `pokernets` (`pokernets/wheel.py`), so that a user's own `models` or
`conf` stay importable; `_target_: models.leaf.train` names the same function in both.
"""

from pathlib import Path
from typing import Any

PACKAGES = ("conf", "data_gen", "models", "poker")
"""Packages at the top level of a clone that the wheel holds inside `pokernets`."""
_ABOVE = __name__.removesuffix("poker.naming")
_ROOT = Path(__file__).parents[1]


def importable(name: str) -> str:
    """The name by which a module, class or function is imported here; names of a user's own modules as they are."""
    package, _, rest = name.partition(".")
    if not (_ABOVE and rest and package in PACKAGES):
        return name
    module = _ROOT / package / rest.partition(".")[0]
    return _ABOVE + name if module.is_dir() or module.with_suffix(".py").is_file() else name


def stable_name(definition: Any) -> str:
    """The name of a class or function that a manifest or record holds."""
    return f"{definition.__module__.removeprefix(_ABOVE)}.{definition.__qualname__}"
