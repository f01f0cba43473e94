"""`python -m poker.kernels` compiles all that commands call."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from poker.kernels.registry import ENTRIES, Entry, entry
from tests.solvers.games import SPOTS

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "evaluate.py evaluate=match agents=[random,always_call] hands=2",
    "evaluate.py evaluate=spot spot=turn.json target_percent=50",
    "evaluate.py evaluate=exploitability game=leduc solver=cfr_plus iterations=5",
    "-m data_gen job=blueprint game=leduc job.iterations=2000",
    "-m data_gen job=blueprint game=leduc solver=smooth_uct job.iterations=2000 artifacts=smooth",
)


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


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_after_it_no_command_compiles(tmp_path: Path) -> None:
    """Kernels in numba's cache, workers of commands included, are the same ones after the commands as before."""
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    (tmp_path / "turn.json").write_text(json.dumps(SPOTS["t1_turn_basic"]["config"]))

    def run(*arguments: str) -> set[str]:
        subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=environment, check=True, capture_output=True)
        return {path.name for path in cache.rglob("*.nbc")}

    compiled = run("-m", "poker.kernels")
    assert compiled
    for command in COMMANDS:
        first, *rest = command.split()
        script = [first, rest.pop(0)] if first == "-m" else [str(ROOT / first)]
        assert run(*script, *rest) == compiled, command
