"""`job=continuations`: what it keeps is what was generated, and it is made once."""

from pathlib import Path

import numpy as np
import pytest

from data_gen.continuation_forms import Sampled, shortfall
from poker.abstraction.buckets import CardAbstraction
from poker.artifacts import open_artifact
from poker.errors import PokernetsError
from poker.features.shards import open_shards
from poker.search.leaves.table import TableLeaf
from poker.solvers.blueprint import Blueprint, FirstRound
from poker.solvers.continuations.generation import KIND, load_set
from poker.solvers.continuations.leaf_play import BLUEPRINT, LeafPlay, Pure
from poker.solvers.rollout.forms import KIND as FORMS
from poker.solvers.rollout.forms import SelfGenerated, save_forms
from poker.solvers.rollout.leaf_table import LeafTable
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import build_tree
from tests.data_gen.commands import data_gen, data_gen_fails
from tests.data_gen.tiny import tiny_blueprint
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
        assert found.values.shape == (5, 5, 3, 3)
        assert found.leaves == play.leaves
        assert found.steps[-1].response_value == pytest.approx(value if opponent == 0 else -value, abs=2e-3)
        assert isinstance(found.strategies[4], Pure)
        seats = (found.strategies[4], BLUEPRINT) if opponent == 0 else (BLUEPRINT, found.strategies[4])
        np.testing.assert_allclose(play.values(seats), found.values[:, 4], atol=1e-5)
    assert "size=5" in data_gen_fails(*job, "job.size=6")


@pytest.mark.slow
def test_forms_of_a_tiny_blueprint_and_the_table_of_their_values(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    settings = ("boards=40", "response_boards=60", "match_boards=40")
    job = (
        "job=continuations",
        "job.exact=null",
        "job.size=3",
        "cluster.processes=1",
        *(f"job.sampled.{each}" for each in settings),
        *common,
    )
    assert "3 strategies" in data_gen(*job, "--dry")
    assert not (tmp_path / "continuations").exists()
    assert "3 strategies" in data_gen(*job)
    assert not (tmp_path / "continuations.parts").exists()
    assert "are there" in data_gen(*job)
    blueprint = Blueprint.load(tmp_path / "blueprint", CardAbstraction.load(tmp_path / "abstraction"))
    forms = SelfGenerated(str(tmp_path / "continuations")).of(blueprint)
    assert [form.strategy.shape for form in forms] == [blueprint.strategy.shape] * 3
    assert not np.array_equal(forms[1].strategy, forms[2].strategy)
    steps = open_artifact(tmp_path / "continuations", FORMS).counts["steps"]
    assert sum(each["gain_mbb"] for step in steps for each in step["seats"]) > 1000

    table = ("job=leaf_table", "continuations=self_generated", "job.settings.boards=40", "cluster.processes=1", *common)
    data_gen(*table)
    leaf = TableLeaf(path=str(tmp_path / "leaf_table"), blueprint=FirstRound.load(tmp_path / "blueprint"))
    assert leaf.num_continuations == 3
    two = (*table, "continuations.size=2", f"job.output={tmp_path}/two")
    data_gen(*two)
    first = LeafTable.load(tmp_path / "two", blueprint)
    np.testing.assert_array_equal(first.values, LeafTable.load(tmp_path / "leaf_table", blueprint).values[:, :, :2])
    config = open_artifact(tmp_path / "two", "leaf_table").config
    assert config["continuations"] == ["blueprint", "response_1"]
    assert "3 continuations, 4 are asked for" in data_gen_fails(*table, "continuations.size=4")
    save_forms(tmp_path / "taken", forms, {"pot_fraction": 0.25}, {})
    data_gen(*table, f"continuations.path={tmp_path}/taken", f"job.output={tmp_path}/less")
    less = (
        LeafTable.load(tmp_path / "less", blueprint).values - LeafTable.load(tmp_path / "leaf_table", blueprint).values
    )
    np.testing.assert_allclose(less[:, :, 0], 0)
    np.testing.assert_allclose(less[:, :, 1:], 0.25, atol=1e-5)

    few = ("shards=1", "settings.boards_per_shard=1", "settings.states_per_board=2", "settings.preflop_share=1.0")
    data_gen("job=leaf_states", "continuations=self_generated", *(f"job.{each}" for each in few), *common)
    (shard,) = open_shards(tmp_path / "leaf_states")
    assert shard.config["continuations"] == ["blueprint", "response_1", "response_2"]
    assert shard.arrays["labels"].shape[1] == 3


@pytest.mark.parametrize("few", [{"boards": 1}, {"form_boards": 1}, {"response_boards": 0}, {"match_boards": 1}])
def test_too_few_boards_are_refused_before_anything_is_computed(few: dict[str, int]) -> None:
    least = {"boards": 2, "form_boards": 2, "response_boards": 1, "match_boards": 2}
    Sampled("", "", **least, seed=1)
    with pytest.raises(PokernetsError, match=r"job\.sampled needs boards"):
        Sampled("", "", **{**least, **few}, seed=1)


def test_a_response_that_wins_less_than_the_blueprint_is_told() -> None:
    assert shortfall(3, 1, {"gain_mbb": -40.0, "gain_half_width_95": 50.0}) is None
    told = shortfall(3, 1, {"gain_mbb": -90.0, "gain_half_width_95": 50.0})
    assert told is not None
    assert "continuation 3 of player 1 wins 90 +- 50" in told
