"""Processes of a match: the units of work that they are given at a time, and the agents that they build."""

import pickle
from functools import partial
from pathlib import Path

import pytest

from poker.agents.simple import AlwaysCall
from poker.play.lineup import AgentSpec, LineUp, Rotation, Task
from poker.play.workers import Worker, _units
from poker.run.errors import PokernetsError
from poker.store.artifacts import write_artifact
from tests.games import load_rules


def tasks(sessions: int) -> list[Task]:
    pairs = [LineUp((name, "caller")) for name in ("first", "second", "third")]
    return [(pair, session) for session in range(sessions) for pair in pairs]


def test_all_line_ups_of_a_session_go_together_unless_that_takes_long() -> None:
    short = _units(tasks(8), 2, seconds=1.0)
    assert [len(unit) for unit in short] == [3] * 8
    assert all(len({session for _, session in unit}) == 1 for unit in short)
    assert _units(tasks(8), 2, seconds=60.0) == [[task] for task in tasks(8)]
    assert _units(tasks(7), 2, seconds=1.0) == [[task] for task in tasks(7)], "some processes would be idle"
    assert _units([], 2, seconds=0.0) == []


def test_an_agent_whose_artifact_was_replaced_is_not_built_again(tmp_path: Path) -> None:
    def make(name: str, seed: int) -> None:
        write_artifact(tmp_path / name, "blueprint", config={"seed": seed}, arrays={})

    make("blueprint", 1)
    settings = {"name": "calls", "search": {"blueprint": str(tmp_path / "blueprint"), "net": str(tmp_path / "net")}}
    spec = pickle.loads(pickle.dumps(AgentSpec("calls", partial(AlwaysCall, name="calls"), settings)))
    worker = Worker(Rotation(load_rules("leduc"), seed=1, session=1), {"calls": spec})
    worker.play((LineUp(("calls", "calls")), 0))
    make("blueprint", 1)
    make("net", 1)
    worker.close()
    worker.play((LineUp(("calls", "calls")), 0))
    make("blueprint", 2)
    worker.close()
    with pytest.raises(PokernetsError, match="blueprint, which calls plays with, was replaced: run the command again"):
        worker.play((LineUp(("calls", "calls")), 0))
