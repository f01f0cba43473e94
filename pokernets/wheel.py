"""The build step of the wheel, which moves the packages and entry points of a clone into `pokernets`.

So an installation takes one top-level name, and a user's own `models` or `conf` can still be imported. Imports and the
dotted names in YAML files are rewritten. Editable installations use the folders of the clone.
"""

import re
import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

_PACKAGES = ("conf", "data_gen", "models", "poker")
_SCRIPTS = ("evaluate.py", "train.py")
_IMPORT = re.compile(rf"^(\s*(?:from|import) )(?=(?:{'|'.join(_PACKAGES)})[. ])", re.MULTILINE)
_DOTTED_NAME = re.compile(rf"(?<![\w./$])(?=(?:{'|'.join(_PACKAGES)})(?:\.[A-Za-z_]\w*){{2,}})")


class BuildInside(build_py):
    """The build command `build_py`, followed by the move."""

    def run(self) -> None:
        """Build the packages, and move them unless the installation is editable."""
        super().run()
        if not self.editable_mode:
            move_inside(Path(self.build_lib))


class OneName(egg_info):
    """The command `egg_info`, with a top_level.txt that lists only the wheel's own package."""

    def run(self) -> None:
        """Write the metadata."""
        super().run()
        (Path(self.egg_info) / "top_level.txt").write_text("pokernets\n")


def move_inside(library: Path) -> None:
    """Move the packages in `library` into its `pokernets`, deleting what an earlier build left there."""
    inside = library / "pokernets"
    for name in _PACKAGES:
        shutil.rmtree(inside / name, ignore_errors=True)
        shutil.move(library / name, inside / name)
    for name in _SCRIPTS:
        shutil.move(library / name, inside / name)
    (inside / "wheel.py").unlink()
    for file in inside.rglob("*.py"):
        file.write_text(_IMPORT.sub(r"\1pokernets.", file.read_text()))
    for file in inside.rglob("*.yaml"):
        file.write_text(_DOTTED_NAME.sub("pokernets.", file.read_text()))
