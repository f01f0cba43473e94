"""Cores and memory as this process has them, and locks against other processes, which end with them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.machine import cores, peak_memory


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the platform cannot bind processes to cores")
def test_cores_that_the_process_may_not_use_do_not_count() -> None:
    allowed = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, [{allowed}]); from poker.run.machine import cores; print(cores())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
    assert cores() == len(os.sched_getaffinity(0))


def test_without_affinities_all_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cores() == os.cpu_count()


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux alone keeps what is freed")
def test_freed_memory_is_given_back() -> None:
    """Small blocks below one that is in use stay with the process otherwise."""
    code = (
        "from pathlib import Path\nfrom poker.run.machine import give_back_memory\n"
        "def pages(): return int(Path('/proc/self/statm').read_text().split()[1])\n"
        "blocks = [bytearray(3000) for _ in range(50_000)]\nlast = blocks.pop()\ndel blocks\n"
        "before = pages()\ngive_back_memory()\nprint((before - pages()) * 4096)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 100_000_000


def test_peak_memory_is_in_bytes() -> None:
    array = np.ones(8_000_000)
    assert array.nbytes < peak_memory() < 1 << 38


_HOLDER = """
import sys
from pathlib import Path
from poker.run.lock import alone
with alone(Path(sys.argv[1]), "not free", sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process has the name, until it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, folder, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_names_of_another_process_are_refused_until_it_dies(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with (
        held(made, "one"),
        alone(made, "two is taken", "two"),
        pytest.raises(PokernetsError, match="one is taken"),
        alone(made, "one is taken", "one"),
    ):
        pass
    with alone(made, "one is taken", "one"), alone(made, "it is taken"):
        pass
    with held(made, "one"):
        pass


def test_a_folder_is_for_one_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(PokernetsError, match="is in use"), alone(tmp_path, "it is in use"):
        pass
    with alone(tmp_path, "it is in use"):
        pass
