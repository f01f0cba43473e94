"""Cores and memory as this process has them."""

import os
import subprocess
import sys

import numpy as np
import pytest

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
