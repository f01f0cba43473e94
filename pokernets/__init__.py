"""Poker agents, exact solvers and value nets: the command `pokernets` and the interface of docs/from_python.md.

Tables are dictionaries from column names to numpy arrays of one length, which `pandas.DataFrame` and `pyarrow.table`
accept.
"""

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poker.run.machine import without_collections

if TYPE_CHECKING:
    from poker.studio.serving.loaded_agent import LoadedAgent
    from pokernets.agents import evaluate, load_agent
    from pokernets.hands import hands_table, profiles_table, read_hands
    from pokernets.predictions import leaf_values, opponent_probabilities
    from pokernets.spots import SolvedSpot, solve

__version__ = "0.1.0"
_HERE = Path(__file__).parent
ROOT = _HERE if (_HERE / "models").is_dir() else _HERE.parent
"""Folder of the entry points `train.py` and `evaluate.py`: this package in an installation, else the clone."""
TRAINED = ROOT / "models" / "trained"
"""Folder of the bundles that come with the installation."""
_SYSTEM = os.name
_MODULES = {
    "agents": ("LoadedAgent", "evaluate", "load_agent"),
    "hands": ("hands_table", "profiles_table", "read_hands"),
    "predictions": ("leaf_values", "opponent_probabilities"),
    "spots": ("SolvedSpot", "solve"),
}
__all__ = [
    "LoadedAgent",
    "SolvedSpot",
    "evaluate",
    "hands_table",
    "leaf_values",
    "load_agent",
    "opponent_probabilities",
    "profiles_table",
    "read_hands",
    "solve",
]


def unsupported() -> str:
    """Return why the program does not run on this system; empty if it does."""
    return (
        "" if _SYSTEM == "posix" else "pokernets runs on Linux and macOS (POSIX); on Windows, install and run it in WSL"
    )


def __getattr__(name: str) -> Any:
    """Import a name at its first use, since numba and torch take seconds to import.

    Raises:
        ImportError: this system is not supported.
        AttributeError: there is no such name.
    """
    for module, names in _MODULES.items():
        if name in names:
            if reason := unsupported():
                raise ImportError(reason)
            with without_collections():
                return getattr(importlib.import_module(f"pokernets.{module}"), name)
    raise AttributeError(f"module 'pokernets' has no attribute {name!r}")
