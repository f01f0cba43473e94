"""`job=continuations`: what it keeps is what was generated, and it is made once."""

from pathlib import Path

import numpy as np
import pytest

from poker.artifacts import open_artifact
from poker.solvers.continuations.leaf_play import BLUEPRINT, LeafPlay, Pure
from poker.solvers.continuations.store import KIND, load_set
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import build_tree
from tests.data_gen.commands import data_gen, data_gen_fails
from tests.solvers.games import leduc


def test_leduc(tmp_path: Path) -> None:
    job = ("job=continuations", "game=leduc", f"artifacts={tmp_path}", f"runs={tmp_path}/runs", "job.size=5")
    said = data_gen(*job)
    assert "36 decisions" in said
    assert "are there" in data_gen(*job)
    value = open_artifact(tmp_path / "continuations", KIND).counts["blueprint_value"]
    assert value == pytest.approx(-0.0856, abs=1e-3)
    solver = VectorSolver(VectorGame(build_tree(Betting.start(leduc()))), "cfr_plus")
    solver.advance(1000)
    play = LeafPlay(solver)
    for opponent in range(2):
        found = load_set(tmp_path / "continuations", opponent)
        assert found.values.shape == (5, 1, 5, 3, 3)
        assert found.leaves == play.leaves
        assert found.steps[-1].response_value == pytest.approx(value if opponent == 0 else -value, abs=2e-3)
        assert isinstance(found.strategies[4], Pure)
        seats = (found.strategies[4], BLUEPRINT) if opponent == 0 else (BLUEPRINT, found.strategies[4])
        np.testing.assert_allclose(play.values(seats), found.values[:, 0, 4], atol=1e-5)
    assert "size=5" in data_gen_fails(*job, "job.size=6")
