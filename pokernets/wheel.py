"""The build step of the wheel: the packages of a clone move into `pokernets`.

So an installation takes one name. Imports are rewritten; names in strings, as `_target_` in conf/, stay and are
resolved by `poker.store.naming`. Editable installations keep the folders of the clone.
"""

import re
import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

_MOVED = ("conf", "data_gen", "models", "poker")
_IMPORT = re.compile(rf"^(\s*(?:from|import) )(?=(?:{'|'.join(_MOVED)})[. ])", re.MULTILINE)


class BuildInside(build_py):
    """`build_py`, then the move."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            move_inside(Path(self.build_lib))


class OneName(egg_info):
    """`egg_info` whose top_level.txt names what a wheel takes."""

    def run(self) -> None:
        super().run()
        (Path(self.egg_info) / "top_level.txt").write_text("pokernets\n")


def move_inside(library: Path) -> None:
    """Move the packages in `library` into its `pokernets`, of which nothing is left from an earlier build."""
    inside = library / "pokernets"
    for name in _MOVED:
        shutil.rmtree(inside / name, ignore_errors=True)
        shutil.move(library / name, inside / name)
    (inside / "wheel.py").unlink()
    for file in inside.rglob("*.py"):
        file.write_text(_IMPORT.sub(r"\1pokernets.", file.read_text()))
