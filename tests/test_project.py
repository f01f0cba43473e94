"""The metadata a clone of next year installs from, and habits of the house that no other tool checks."""

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

from pokernets import __version__

ROOT = Path(__file__).parents[1]
SOURCES = [
    file
    for name in ("pokernets", "poker", "data_gen", "models", "conf")
    for file in sorted((ROOT / name).rglob("*.py"))
]


def test_constraints_pin_every_dependency_exactly() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = {}
    for line in lines:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9][0-9a-z.]*)", line)
        assert match, f"constraints.txt: {line!r} is not name==version"
        name = _normal(match.group(1))
        assert name not in pins, f"constraints.txt pins {name} twice"
        pins[name] = match.group(2)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {_normal(re.split(r"[<>=!~ \[]", requirement)[0]) for requirement in wanted}
    assert names <= set(pins)
    assert pins["torch"].startswith("2.13.")
    assert pins["lightning"] not in ("2.6.2", "2.6.3")


def test_every_file_names_the_version_that_is_installed() -> None:
    for file in ("CITATION.cff", "CHANGELOG.md"):
        assert re.search(rf"^(version: |## ){re.escape(__version__)}\b", (ROOT / file).read_text(), re.MULTILINE), file


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_no_public_name_of_a_class_or_alias_stands_twice() -> None:
    """A reader who looks a type up finds one: classes, type aliases and type variables alike."""
    names = Counter(
        name
        for file in SOURCES
        for node in ast.parse(file.read_text()).body
        for name in [_defined(node)]
        if not name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def _defined(node: ast.stmt) -> str:
    """The name of a class, or of an alias: a module's variable in CamelCase; `_` for other statements."""
    if isinstance(node, ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return next((name for name in names if name[0].isupper() and not name.isupper()), "_")


def test_entry_points_alone_read_the_command_line() -> None:
    """And `poker.run.commands`, which tells users how to make what theirs lacks."""
    below = [file for file in SOURCES if file.relative_to(ROOT).parts[0] in ("poker", "models", "data_gen")]
    readers = [file.relative_to(ROOT) for file in below if "argv" in file.read_text()]
    assert readers == [Path("poker/run/commands.py")]


DOCUMENTED = ("data_gen/", "models/", "pokernets/", "poker/")
"""Folders whose docstrings give the shapes of arrays and the errors."""


def test_docstrings_of_documented_rooms_give_shapes_and_errors() -> None:
    array, missing = re.compile(r"\b(NDArray|Tensor|Floats|Singles|Ints)\b"), []
    for file in (file for file in SOURCES if str(file.relative_to(ROOT)).startswith(DOCUMENTED)):
        body = ast.parse(file.read_text()).body
        classes = [node for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        for node in [*body, *(member for each in classes for member in each.body)]:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                text = ast.get_docstring(node) or ""
                types = [argument.annotation for argument in (*node.args.args, *node.args.kwonlyargs)]
                arrays = any(array.search(ast.unparse(kind)) for kind in (*types, node.returns) if kind)
                raising = any(isinstance(inner, ast.Raise) and inner.exc for inner in ast.walk(node))
                if (arrays and not re.search(r"\[|shape", text)) or (raising and not re.search(r"[Rr]aise", text)):
                    missing.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert missing == []
