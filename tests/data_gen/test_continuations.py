"""`job=continuations`: what it keeps is what was generated, and it is made once."""

import re
from pathlib import Path

import numpy as np
import pytest

from data_gen.continuations import Sampled, shortfall
from poker.abstraction.buckets import CardAbstraction
from poker.depth_limit.continuations.forms import KIND as FORMS
from poker.depth_limit.continuations.forms import SelfGenerated, save_forms
from poker.depth_limit.leaves.leaf_table import LeafTable
from poker.depth_limit.leaves.table import TableLeaf
from poker.depth_limit.shards import open_shards
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint, FirstRound
from poker.store.artifacts import open_artifact
from tests.data_gen.commands import data_gen, data_gen_fails
from tests.data_gen.tiny import tiny_blueprint


def test_games_without_hold_ems_cards_are_refused(tmp_path: Path) -> None:
    refused = data_gen_fails("job=continuations", "game=leduc", f"artifacts={tmp_path}")
    assert "is for games of hold'em, not leduc" in refused


@pytest.mark.slow
def test_forms_of_a_tiny_blueprint_and_the_table_of_their_values(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    settings = ("boards=40", "response_boards=60", "match_boards=40")
    job = (
        "job=continuations",
        "job.size=3",
        "cluster.processes=1",
        *(f"job.sampled.{each}" for each in settings),
        *common,
    )
    assert re.search(r"3 strategies, values of \d+ leaves; about [\d,]+ s of CPU", data_gen(*job))
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
    Sampled(**least, seed=1)
    with pytest.raises(PokernetsError, match=r"job\.sampled needs boards"):
        Sampled(**{**least, **few}, seed=1)


def test_a_response_that_wins_less_than_the_blueprint_is_told() -> None:
    assert shortfall(3, 1, {"gain_mbb": -40.0, "gain_half_width_95": 50.0}) is None
    warning = shortfall(3, 1, {"gain_mbb": -90.0, "gain_half_width_95": 50.0})
    assert "continuation 3 of player 1 wins 90 +- 50" in (warning or "")
