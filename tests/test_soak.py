"""Long matches and odd lines in short: memory stays flat, nothing is left open, nothing crashes or hangs."""

import gc
import multiprocessing
import os
import threading
from functools import partial
from pathlib import Path

import pytest

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.play import workers
from poker.play.lineup import AgentSpec
from poker.run.parallel import LocalCluster
from tests.endurance import GAMES, fuzz
from tests.games import load_rules
from tests.matches import play_match

SPECS = (
    AgentSpec("random", partial(RandomAgent, name="random", raises=[0.5, 1, "a"]), {}),
    AgentSpec("call", partial(AlwaysCall, name="call"), {}),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "hands", "processes", "decision_seconds"),
    [("leduc", 600, 1, None), ("leduc", 6000, 2, 60.0), ("holdem_nolimit_2p", 4000, 1, None)],
)
def test_a_match_leaves_nothing_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    game: str,
    hands: int,
    processes: int,
    decision_seconds: float | None,
) -> None:
    """A match of a tenth of the hands warms up; the second, of all, leaves no file, thread or process, and memory is
    within 5% of what it was."""
    if processes > 1:
        monkeypatch.setattr(workers, "_is_long", lambda *pace: True)

    def play(hands: int, seed: int) -> None:
        [result] = play_match(
            game=load_rules(game),
            agents=list(SPECS),
            hands=hands,
            seed=seed,
            decision_seconds=decision_seconds,
            cluster=LocalCluster(processes),
            out=str(tmp_path),
        ).lineups
        assert result.hands == hands
        assert not result.incidents

    play(max(20, hands // 10), seed=1)
    before = usage()
    play(hands, seed=2)
    after = usage()
    assert after[0] < 1.05 * before[0]
    assert after[1] <= before[1]
    assert after[2] <= before[2]
    assert not multiprocessing.active_children()


def usage() -> tuple[int, int, int]:
    """Pages of memory, open files and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages, len(os.listdir("/proc/self/fd")), threading.active_count()


@pytest.mark.parametrize("name", GAMES)
def test_odd_lines_are_parsed_or_refused(name: str) -> None:
    result = fuzz(name, 1500, seed=1)
    assert result["ok"], result
