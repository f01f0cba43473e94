"""`python -m poker.kernels` compiles all that commands call, and its stamp is valid while what it depends on stays."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.kernels import ahead
from poker.kernels.cards.ranks import rank_hands
from poker.kernels.registry import ENTRIES, Entry, entry
from tests.cases import table
from tests.solvers.games import SPOTS

ROOT = Path(__file__).parents[2]
COMMANDS = table(__file__, "COMMANDS")

WATCHED = """
import os
from numba.core.caching import Cache

load = Cache.load_overload

def watched(cache, signature, context):
    with open(os.environ["ASKED"], "a") as file:
        file.write(f"{cache._py_func.__module__}.{cache._py_func.__qualname__} {signature}\\n")
    return load(cache, signature, context)

Cache.load_overload = watched
"""
"""Startup code that Python imports in every process, as `sitecustomize`."""


def test_entry_is_compiled_for_its_signature() -> None:
    @entry("u1_2r, i8")
    def first(matrix: np.ndarray, row: int) -> int:
        return int(matrix[row, 0])

    made = ENTRIES.pop()
    assert made == Entry(first, ("u1_2r, i8",))
    made.compile(made.signatures[0])
    matrix = np.full((2, 3), 7, np.uint8)
    matrix.setflags(write=False)
    assert first(matrix, 1) == 7
    assert len(first.signatures) == 1  # type: ignore[attr-defined]
    first(matrix.copy(), 1)
    assert len(first.signatures) == 2  # type: ignore[attr-defined]


def test_an_index_of_classes_that_are_gone_counts_as_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that the signature of a cached kernel names may have been renamed in another file."""
    file = rank_hands._cache._cache_file  # type: ignore[attr-defined]
    rank_hands(np.zeros((0, 5), np.uint8))
    assert file._load_index()

    def gone(data: bytes) -> None:
        raise AttributeError("Can't get attribute 'Renamed' on <module 'poker.kernels.vector.arrays'>")

    monkeypatch.setattr(pickle, "loads", gone)
    assert file._load_index() == {}


MADE_UP: dict[str, str] = table(__file__, "MADE_UP")
"""Files of a made-up package by name: a kernel that calls another one, which uses a constant."""
CALL = "from poker.kernels.caller import called; print(called(3), called.stats.cache_misses.total())"
"""Prints the result of the made-up kernel, and how often it was compiled."""


def test_kernel_is_stale_after_an_edit_in_any_file_that_it_uses(tmp_path: Path) -> None:
    folder = tmp_path / "poker" / "kernels"
    folder.mkdir(parents=True)
    for name in ("compiler.py", "registry.py"):
        shutil.copy(ROOT / "poker" / "kernels" / name, folder)

    def called() -> list[str]:
        call = [sys.executable, "-c", CALL]
        return subprocess.run(call, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()

    for name, text in MADE_UP.items():
        (folder / f"{name}.py").write_text(text)
    assert [called(), called()] == [["6", "1"], ["6", "0"]]
    for name, text, printed in (
        ("constants", "FACTOR = 5", ["15", "1"]),
        ("callee", MADE_UP["callee"].replace("FACTOR *", "1 + FACTOR *"), ["16", "1"]),
        ("unused", "FACTOR = 7", ["16", "0"]),
    ):
        (folder / f"{name}.py").write_text(text)
        assert called() == printed


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_after_it_no_command_compiles(tmp_path: Path) -> None:
    """Kernels that commands, workers included, ask numba's cache for are among those that it has put there."""
    (tmp_path / "sitecustomize.py").write_text(WATCHED)
    (tmp_path / "turn.json").write_text(json.dumps(SPOTS["t1_turn_basic"]["config"]))
    log = tmp_path / "asked"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT))), "ASKED": str(log)}

    def run(*arguments: str) -> set[str]:
        log.write_text("")
        subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=environment, check=True, capture_output=True)
        return set(log.read_text().splitlines())

    compiled = run("-c", "from poker.kernels.ahead import compile_all; compile_all()")
    assert compiled
    for command in COMMANDS:
        first, *rest = command.split()
        script = [first, rest.pop(0)] if first == "-m" else [str(ROOT / first)]
        loaded = run(*script, *rest)
        assert loaded, command
        assert loaded <= compiled, command


IMPORTED = "import sys, poker.kernels.ahead as a; print(a.is_compiled(), 'numba' in sys.modules)"
"""Prints whether everything is compiled, and whether finding out imported numba."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stamped cache folder of one source, two files, which counts as compiled."""
    source = tmp_path / "sources" / "kernel.py"
    source.parent.mkdir()
    source.write_text("one")
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("kernel.nbi", "kernel.1.nbc"):
        (folder / name).write_text(name)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    monkeypatch.setattr(ahead, "_SOURCES", source.parent)
    ahead._write_stamp(ahead._dependencies(), sorted(map(str, folder.iterdir())))
    assert ahead.is_compiled()
    return folder


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda cache: ahead._stamp_file().unlink(), id="no stamp"),
        pytest.param(lambda cache: (cache / "kernel.1.nbc").unlink(), id="a file of the cache is gone"),
        pytest.param(lambda cache: os.utime(cache / "kernel.nbi", ns=(1, 1)), id="another time of a file, older too"),
        pytest.param(lambda cache: (cache.parent / "sources/kernel.py").write_text("another"), id="an edited source"),
        pytest.param(lambda cache: (cache.parent / "sources/new.py").write_text(""), id="a new source"),
    ],
)
def test_changed_sources_are_noticed(cache: Path, change: Callable[[Path], object]) -> None:
    change(cache)
    assert not ahead.is_compiled()


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"depends_on": {}, "cache": {}}'])
def test_a_damaged_stamp_is_none(cache: Path, damaged: str) -> None:
    ahead._stamp_file().write_text(damaged)
    assert not ahead.is_compiled()


def test_settings_of_numba_are_noticed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert not ahead.is_compiled()


@pytest.mark.parametrize(("name", "value"), [("numba", "0.1"), ("cpu", ["486", "-sse"])])
def test_another_numba_or_processor_is_noticed(cache: Path, name: str, value: Any) -> None:
    stamp = json.loads(ahead._stamp_file().read_text())
    assert stamp["depends_on"][name] != value
    stamp["depends_on"][name] = value
    ahead._stamp_file().write_text(json.dumps(stamp))
    assert not ahead.is_compiled()


def test_while_nothing_has_changed_numba_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ahead._write_stamp(ahead._dependencies(), [])
    done = subprocess.run([sys.executable, "-c", IMPORTED], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "False"]


def test_kernels_are_compiled_at_first_use_and_their_files_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After missing files are compiled the cache is read back before it counts; the second use checks nothing."""
    passes = iter([3, 0])
    titles = []

    def compile_all(title: str, *_: object) -> int:
        titles.append(title)
        return next(passes)

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(ahead, "_compile_all", compile_all)
    monkeypatch.setattr(ahead, "_cache_files", list)  # other tests write to the real ones meanwhile
    ahead.compile_at_first_use()
    assert titles == ["compiling kernels", "loading the kernels"]
    assert ahead.is_compiled()
    ahead.compile_at_first_use()
    assert len(titles) == 2


def test_missing_kernel_files_are_not_reported_as_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ahead, "_compile_all", lambda *_: 1)
    monkeypatch.setattr(ahead, "_cache_files", list)
    ahead.compile_all()
    assert not ahead.is_compiled()
