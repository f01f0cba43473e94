"""`python -m tests.api_pages FOLDER`: pages of the Python interface by pdoc, from docstrings; warnings are errors."""

import sys
import warnings
from pathlib import Path

import pokernets

MODULES = ("pokernets", "pokernets.openspiel")


def build(folder: Path) -> list[Path]:
    """Write the pages and return them."""
    import pdoc  # noqa: PLC0415 (a tool of its own)

    vars(pokernets).update({name: getattr(pokernets, name) for name in pokernets.__all__})  # which are imported late
    pdoc.render.configure(show_source=False, search=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdoc.pdoc(*MODULES, output_directory=folder)
    return sorted(folder.rglob("*.html"))


if __name__ == "__main__":
    print(*build(Path(sys.argv[1])), sep="\n")
