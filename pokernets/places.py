"""Sources of agents and nets: bundles of the installation by name, other bundles, and folders of artifacts."""

from pathlib import Path

from poker.run.atomic import SUFFIX
from poker.run.errors import PokernetsError
from pokernets import TRAINED


def source_path(source: str | Path) -> Path:
    """Return the bundle or folder that `source` names; `laptop` is the bundle of the installation.

    Raises:
        PokernetsError: there is no such bundle or folder.
    """
    own = TRAINED / f"{source}{SUFFIX}"
    path = own if own.is_file() else Path(source)
    if not path.exists():
        names = ", ".join(file.stem for file in sorted(TRAINED.glob(f"*{SUFFIX}")))
        raise PokernetsError(f"no bundle or folder of artifacts at {source}; the installation has {names}")
    return path
