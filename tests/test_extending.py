"""What docs/extending.md says is enough: each part, written into a package of its own, works at the entry points.

The files of every part are counted; the commands find them through `hydra.searchpath` and `PYTHONPATH`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from poker.artifacts import open_artifact
from tests.games import CONF

Command = Callable[..., subprocess.CompletedProcess[str]]
Extension = Callable[[Mapping[str, str]], Command]


@pytest.fixture
def extension(tmp_path: Path) -> Extension:
    """Writes the files of a package `mine`, configuration under `conf/`; returns what runs commands beside it."""

    def write(files: Mapping[str, str]) -> Command:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "mine" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        places = (f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs", f"hydra.searchpath=[{tmp_path}/mine/conf]")
        paths = f"{CONF.parent}{os.pathsep}{tmp_path}"

        def run(*command: str) -> subprocess.CompletedProcess[str]:
            done = subprocess.run(
                [sys.executable, *command, *places],
                cwd=CONF.parent,
                env={**os.environ, "PYTHONPATH": paths},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done

        return run

    return write


AGENT = {
    "shy.py": """
from poker.rules import CALL, FOLD


class Shy:
    def __init__(self, *, name, folds):
        self.name, self.folds = name, folds

    def reset(self, seed):
        pass

    def start_hand(self, seat):
        pass

    def act(self, state):
        return FOLD if self.folds and state.legal().fold else CALL
""",
    "conf/agents/shy.yaml": """# @package agent.shy
# Folds to every bet.
_target_: mine.shy.Shy
name: shy
folds: true
""",
}
GAME = {
    "conf/game/big_kuhn.yaml": """defaults: [kuhn, _self_]
name: big_kuhn
num_ranks: 5
""",
}


def test_an_agent_is_a_class_and_a_file_and_a_game_a_file(tmp_path: Path, extension: Extension) -> None:
    assert (len(AGENT), len(GAME)) == (2, 1)
    run = extension({**AGENT, **GAME})
    match = ("evaluate.py", "evaluate=match", "game=big_kuhn", "agents=[shy,always_raise]", "aivat=false")
    run(*match, "agent.shy.folds=false", "hands=20", "processes=1")
    [found] = tmp_path.glob("runs/matches/big_kuhn/*/results.json")
    record = json.loads(found.read_text())
    assert record["lineups"][0]["hands"] == 20
    assert record["configuration"]["agents"]["shy"] == {"_target_": "mine.shy.Shy", "name": "shy", "folds": False}
    assert record["configuration"]["game"]["num_ranks"] == 5


SOLVER = {
    "kernel.py": """
from poker.kernels.sampling.chance_sampling import chance_sampling as sweep
""",
    "solver.py": """
from mine.kernel import sweep
from poker.solvers.sampling.chance_sampling import ChanceSampling


class Mine(ChanceSampling):
    @property
    def settings(self):
        return {**super().settings, "solver": "mine"}

    def _play(self, thread, deals, rng):
        return (sweep(*self.sampling.arrays, self.table, deals.buckets, deals.ranks, *self._scratch[thread]),)
""",
    "conf/solver/mine.yaml": """_target_: mine.solver.Mine
_partial_: true
seed: ${seed}
threads: 1
""",
}


def test_a_sampling_solver_is_a_kernel_a_class_and_a_file(tmp_path: Path, extension: Extension) -> None:
    assert len(SOLVER) == 3
    run = extension(SOLVER)
    run("-m", "data_gen", "job=blueprint", "game=kuhn", "solver=mine", "job.iterations=2000", "job.seconds=null")
    made = open_artifact(tmp_path / "made" / "blueprint", "blueprint")
    assert (made.config["solver"], made.counts["iterations"]) == ("mine", 2000)


LEAF = {
    "leaf.py": """
import numpy as np

from poker.search.leaf import cluster_equity, leaf_values


class EquityLeaf:
    num_continuations = 1

    def __init__(self, *, bonus):
        self._bonus = bonus

    def values(self, leaves, board, ranges, own):
        clusters = np.arange(1326, dtype=np.int32)
        equity = cluster_equity(board, clusters)
        open_leaves = sum(not leaf.is_over for leaf in leaves)
        values = np.broadcast_to(equity - np.float32(0.5 - self._bonus), (open_leaves, 1, 1326, 1326))
        return leaf_values(leaves, own, clusters, equity, values)
""",
    "conf/leaf/equity.yaml": """_target_: mine.leaf.EquityLeaf
bonus: 0.0
""",
}


@pytest.mark.slow
def test_a_leaf_evaluator_is_a_class_and_a_file(tmp_path: Path, extension: Extension) -> None:
    assert len(LEAF) == 2
    run = extension(LEAF)
    match = ("evaluate.py", "evaluate=match", "agents=[depth_limited,always_call]", "aivat=false", "processes=1")
    leaves = ("leaf=equity", "leaf@leaves.table=equity", "leaf.bonus=0.1", "search.solver.iterations=[2,2,2,2]")
    run(*match, *leaves, "hands=4")
    [found] = tmp_path.glob("runs/matches/*/*/results.json")
    record = json.loads(found.read_text())
    assert record["lineups"][0]["incidents"] == []
    assert record["configuration"]["agents"]["depth_limited"]["leaves"][1] == {
        "_target_": "mine.leaf.EquityLeaf",
        "bonus": 0.1,
    }
