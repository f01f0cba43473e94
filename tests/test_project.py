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
MOST_MODULES = 14


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


def test_no_folder_is_full() -> None:
    folders = Counter(file.parent for file in (ROOT / "poker").glob("*/**/*.py") if file.name != "__init__.py")
    assert {folder.name: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_docstrings_say_what_things_are() -> None:
    decoded = re.compile(r"(Of|By|With|Those|The same|What)\b")
    found = []
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) and decoded.match(
                ast.get_docstring(node) or ""
            ):
                found.append(f"{file.relative_to(ROOT)}: {getattr(node, 'name', 'module')}")
    assert found == []


def test_no_public_class_name_stands_twice() -> None:
    names = Counter(
        node.name
        for file in SOURCES
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_configuration_files_are_read_by_a_loader_of_yaml() -> None:
    """Nothing in conf/ searches their text, say by regular expressions: it goes into `yaml.load` at once."""
    for file in sorted((ROOT / "conf").glob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        loaded = {id(node.args[0]) for node in calls if ast.unparse(node.func) == "yaml.load"}
        readers = ("read_text", "read_bytes", "open")
        texts = [node for node in calls if ast.unparse(node.func).rpartition(".")[2] in readers]
        assert [
            ast.unparse(node) for node in texts if id(node) not in loaded and "os.devnull" not in ast.unparse(node)
        ] == []
