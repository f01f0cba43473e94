"""`python -m poker.kernels` compiles all that commands call."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from poker.kernels.cards.ranks import rank_hands
from poker.kernels.registry import ENTRIES, Entry, entry
from tests.solvers.games import SPOTS

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "evaluate.py evaluate=match agents=[random,always_call] hands=2",
    "evaluate.py evaluate=spot spot=turn.json exploitability=0.5",
    "evaluate.py evaluate=exploitability game=leduc solver=cfr_plus iterations=5",
    "-m data_gen job=blueprint game=leduc job.iterations=2000",
    "-m data_gen job=blueprint game=leduc solver=smooth_uct job.iterations=2000 artifacts=smooth",
)

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


def test_an_entry_is_compiled_for_what_its_signature_says() -> None:
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
