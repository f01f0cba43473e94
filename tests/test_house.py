"""The plan of the house (CONTRIBUTING.md): how much there is of it, what lies where, and which way imports point."""

import ast
import re
import subprocess
import tokenize
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("pokernets", "poker", "data_gen", "models", "conf")
MOST_CODE_LINES = {"outside tests": 35_779, "tests": 24_587}
"""Caps that only fall: whoever deletes code lowers them to the new numbers, and nobody raises them."""
MOST_MODULES, MOST_ARROWS, MOST_RIDDLES = 10, 162, 708
RIDDLES = {
    *("found", "told", "known", "shown", "kept", "asked", "held"),
    *("seen", "one", "other", "wanted", "done", "made"),
}
"""Names of values that do not say what they are. The caps only fall."""


@cache
def _files() -> list[Path]:
    """Files of the project: in a clone those that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a clone of the repository")
    return [ROOT / name for name in sorted(set(listed.stdout.splitlines())) if (ROOT / name).is_file()]


@cache
def _trees() -> dict[Path, ast.Module]:
    return {file.relative_to(ROOT): ast.parse(file.read_text()) for file in _files() if file.suffix == ".py"}


@cache
def _imports() -> dict[str, set[str]]:
    """Modules of the packages that each of them imports, at any depth of its code."""
    modules = {_module(file): tree for file, tree in _trees().items() if file.parts[0] in PACKAGES}
    graph: dict[str, set[str]] = {}
    for module, tree in modules.items():
        names = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= inside & modules.keys()
                if inside - modules.keys():
                    names.add(node.module)
        # a package's `__init__` that names what is inside it, on demand, is no circle
        graph[module] = {name for name in names & modules.keys() if not f"{module}.".startswith(f"{name}.")}
    return graph


def _module(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def _room(module: str) -> str:
    """The room of a module: a folder of `poker/`, or a package beside it."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "poker" else parts[0]


_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
"""Tokens that are no code."""


def _code_lines(file: Path) -> int:
    """Count the lines that hold code: blank lines, comments and docstrings do not."""
    with (ROOT / file).open("rb") as source:
        tokens = [token for token in tokenize.tokenize(source.readline) if token.type not in _LAYOUT]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    docstrings = (
        statement
        for node in ast.walk(_trees()[file])
        if isinstance(body := getattr(node, "body", None), list)
        for statement in body
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
    for docstring in docstrings:
        lines -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(lines)


def test_code_stays_below_its_caps() -> None:
    lines: Counter[str] = Counter()
    for file in (file for file in _trees() if file.parts[0] != "examples"):
        lines["tests" if file.parts[0] == "tests" else "outside tests"] += _code_lines(file)
    print(dict(lines))
    assert {where: number for where, number in lines.items() if number > MOST_CODE_LINES[where]} == {}


def test_rooms_are_small_and_documented() -> None:
    folders = Counter(file.parent for file in _trees() if file.parts[0] in PACKAGES and file.name != "__init__.py")
    assert folders.pop(Path("poker"), 0) == 0, "modules lie loose in poker/"
    assert {str(folder): number for folder, number in folders.items() if number > MOST_MODULES} == {}
    rooms = [folder for folder in folders if folder.parts[0] in ("poker", "models") and folder.parts[1:]]
    short = [str(room) for room in rooms if len(ast.get_docstring(_trees()[room / "__init__.py"]) or "") < 60]
    assert short == []


def test_imports_make_no_circle_and_few_arrows() -> None:
    graph = _imports()
    list(TopologicalSorter(graph).static_order())  # raises CycleError
    arrows = {(_room(one), _room(other)) for one, others in graph.items() for other in others}
    assert sum(one != other for one, other in arrows) <= MOST_ARROWS


def test_names_of_values_are_no_riddles() -> None:
    riddles = [
        f"{file}:{node.lineno}"
        for file, tree in _trees().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in RIDDLES)
        or (isinstance(node, ast.arg) and node.arg in RIDDLES)
    ]
    assert len(riddles) <= MOST_RIDDLES, len(riddles)


def test_boards_are_ordered_in_one_room() -> None:
    rooms = {
        _room(_module(file))
        for file in _trees()
        if file.parts[0] in PACKAGES and re.search(r"sorted\([\w.]*board", (ROOT / file).read_text())
    }
    assert rooms <= {"poker.game"}


def test_libraries_are_patched_in_two_files_at_most() -> None:
    """A patch gives a module or class of a library another function; an object made here, or a number, is a setting."""
    patched = []
    for file, tree in _trees().items():
        if file.parts[0] not in PACKAGES:
            continue
        foreign = {
            (alias.asname or alias.name).split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
            if (getattr(node, "module", None) or alias.name).split(".")[0] not in PACKAGES
        }
        targets: list[ast.expr] = [
            target
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call | ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Attribute)
        ]
        targets += [
            node.args[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr"
        ]
        if any(ast.unparse(target).split(".")[0] in foreign for target in targets):
            patched.append(str(file))
    assert len(patched) <= 2, patched


def test_the_walks_lead_to_files() -> None:
    walks = (ROOT / "CONTRIBUTING.md").read_text().partition("## Four paths through the code")[2].split("\n- ")[1:]
    links = [re.findall(r"\]\(([^)#]+)\)", walk.partition("\n\n")[0]) for walk in walks]
    assert len(links) == 4
    assert all(0 < len(walk) <= 3 for walk in links)
    assert [link for walk in links for link in walk if not (ROOT / link).is_file()] == []
