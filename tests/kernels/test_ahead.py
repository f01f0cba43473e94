"""Kernels are called compiled only while all that their cache depends on is as it was."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poker.kernels import ahead

ROOT = Path(__file__).parents[2]
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
def test_what_has_changed_is_noticed(cache: Path, change: Callable[[Path], object]) -> None:
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


def test_kernels_are_compiled_at_first_use_and_what_they_left_is_checked(
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
    assert titles == ["compiling kernels", "reading them back"]
    assert ahead.is_compiled()
    ahead.compile_at_first_use()
    assert len(titles) == 2


def test_what_is_missing_again_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ahead, "_compile_all", lambda *_: 1)
    monkeypatch.setattr(ahead, "_cache_files", list)
    ahead.compile_all()
    assert not ahead.is_compiled()
