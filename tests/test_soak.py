"""Long matches and odd lines in short: memory stays flat, nothing is left open, nothing crashes or hangs.

`python -m tests.endurance` is the same at full length.
"""

import pytest

from poker.play import workers
from tests.endurance import GAMES, fuzz, soak


@pytest.mark.slow
def test_a_match_leaves_nothing_behind() -> None:
    found = soak(600, processes=1, decision_seconds=None, game="leduc")
    assert found["ok"], found


@pytest.mark.slow
def test_a_match_over_processes_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_is_long", lambda *pace: True)
    found = soak(6000, processes=2, decision_seconds=60.0, game="leduc")
    assert found["processes_seen"] >= 2
    assert found["ok"], found


@pytest.mark.slow
def test_memory_is_flat_in_one_process() -> None:
    found = soak(4000, processes=1, decision_seconds=None)
    assert found["ok"], found


@pytest.mark.parametrize("name", GAMES)
def test_odd_lines_are_parsed_or_refused(name: str) -> None:
    found = fuzz(name, 1500, seed=1)
    assert found["ok"], found
