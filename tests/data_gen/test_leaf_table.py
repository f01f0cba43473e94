"""`job=leaf_table`: complete, symmetric, the same when it is made again, and refused for another blueprint.

`job=continuations`: what it keeps is what was generated, and it is made once.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from data_gen.continuations import Sampled, shortfall
from data_gen.leaf_table import TableSettings
from poker.abstraction.buckets import CardAbstraction
from poker.depth_limit.continuations.forms import KIND as FORMS
from poker.depth_limit.continuations.forms import Biased, SelfGenerated, save_forms
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.leaves.leaf_table import LeafTable, preflop_leaves
from poker.depth_limit.leaves.table import TableLeaf
from poker.depth_limit.shards import open_shards
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint, FirstRound
from poker.store.artifacts import MismatchedArtifactError, open_artifact
from tests.clusters import IN_PROCESS
from tests.data_gen.commands import data_gen, data_gen_fails, digests, tiny_blueprint
from tests.run.test_machine import held

BOARDS = 60


@pytest.mark.slow
def test_table_of_a_tiny_blueprint(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    job = ("job=leaf_table", f"job.settings.boards={BOARDS}", *IN_PROCESS, *common)
    assert re.search(r"leaves to value; about [\d,]+ s of CPU, .* processes? of .* MB on disk", data_gen(*job))
    first = digests(tmp_path / "leaf_table")
    assert not (tmp_path / "leaf_table.parts").exists()
    assert "is there" in data_gen(*job)
    data_gen(*job, f"job.output={tmp_path}/again")
    assert digests(tmp_path / "again") == first

    blueprint = Blueprint.load(tmp_path / "blueprint", CardAbstraction.load(tmp_path / "abstraction"))
    table = LeafTable.load(tmp_path / "leaf_table", blueprint)
    leaves = preflop_leaves(blueprint.tree)
    assert table.sem is not None
    assert table.nodes.tolist() == leaves.tolist()
    assert table.values.shape == table.sem.shape == (len(leaves), 2, 4, 169, 169)
    assert np.allclose(table.values[:, 0, 0], -table.values[:, 1, 0], atol=1e-4)
    _agrees_with_concrete_hands(blueprint, table)
    with pytest.raises(KeyError, match="does not end the preflop round"):
        table.at(0)

    data_gen("job=blueprint", "job.iterations=9000", *common)
    retrained = Blueprint.load(tmp_path / "blueprint", CardAbstraction.load(tmp_path / "abstraction"))
    with pytest.raises(MismatchedArtifactError, match="made with another blueprint"):
        LeafTable.load(tmp_path / "leaf_table", retrained)


def test_values_of_a_single_board_are_refused() -> None:
    TableSettings(seed=1, boards=2, form_boards=2, continuations=Biased())
    for boards, form_boards in ((1, 2), (2, 1), (0, 0)):
        with pytest.raises(PokernetsError, match="at least 2: one board is too noisy"):
            TableSettings(seed=1, boards=boards, form_boards=form_boards, continuations=Biased())


def _agrees_with_concrete_hands(blueprint: Blueprint, table: LeafTable) -> None:
    """Entries are what aces against nine-eight suited get on many boards, up to four standard errors."""
    assert table.sem is not None
    node = int(table.nodes[0])
    aces = np.array([51 * 50 // 2 + 50])
    suited = np.array([28 * 27 // 2 + 24])
    rng = np.random.default_rng(0)
    boards = [tuple(rng.choice(52, 3, replace=False).tolist()) for _ in range(400)]
    moments = Continuations(blueprint, Biased().of(blueprint)).values(node, boards, aces, suited)
    values, sem = moments.in_pots(blueprint.tree.pot(node))
    cell = (slice(None), slice(None), 12 * 13 + 12, 7 * 13 + 6)
    assert (np.abs(table.at(node)[cell] - values[..., 0, 0]) < 4 * np.hypot(sem[..., 0, 0], table.sem[0][cell])).all()


def test_games_without_hold_em_cards_are_refused(tmp_path: Path) -> None:
    refused = data_gen_fails("job=continuations", "game=leduc", f"artifacts={tmp_path}")
    assert "is for games of hold'em, not leduc" in refused


@pytest.mark.slow
def test_forms_of_a_tiny_blueprint_and_the_table_of_their_values(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    settings = ("boards=40", "response_boards=60", "match_boards=40")
    job = ("job=continuations", "job.size=3", *IN_PROCESS, *(f"job.sampled.{each}" for each in settings), *common)
    assert re.search(r"3 strategies, values of \d+ leaves; about [\d,]+ s of CPU", data_gen(*job))
    assert not (tmp_path / "continuations.parts").exists()
    assert "are there" in data_gen(*job)
    blueprint = Blueprint.load(tmp_path / "blueprint", CardAbstraction.load(tmp_path / "abstraction"))
    forms = SelfGenerated(str(tmp_path / "continuations")).of(blueprint)
    assert [form.strategy.shape for form in forms] == [blueprint.strategy.shape] * 3
    assert not np.array_equal(forms[1].strategy, forms[2].strategy)
    steps = open_artifact(tmp_path / "continuations", FORMS).counts["steps"]
    assert sum(each["gain_mbb"] for step in steps for each in step["seats"]) > 1000

    table = ("job=leaf_table", "continuations=self_generated", "job.settings.boards=40", *IN_PROCESS, *common)
    data_gen(*table)
    leaf = TableLeaf(path=str(tmp_path / "leaf_table"), blueprint=FirstRound.load(tmp_path / "blueprint"))
    assert leaf.num_continuations == 3
    two = (*table, "continuations.size=2", f"job.output={tmp_path}/two")
    data_gen(*two)
    first = LeafTable.load(tmp_path / "two", blueprint)
    np.testing.assert_array_equal(first.values, LeafTable.load(tmp_path / "leaf_table", blueprint).values[:, :, :2])
    config = open_artifact(tmp_path / "two", "leaf_table").config
    assert config["continuations"] == ["blueprint", "response_1"]
    assert "3 continuations, but 4 are needed" in data_gen_fails(*table, "continuations.size=4")
    save_forms(tmp_path / "taken", forms, {"pot_fraction": 0.25}, {})
    data_gen(*table, f"continuations.path={tmp_path}/taken", f"job.output={tmp_path}/less")
    less = (
        LeafTable.load(tmp_path / "less", blueprint).values - LeafTable.load(tmp_path / "leaf_table", blueprint).values
    )
    np.testing.assert_allclose(less[:, :, 0], 0)
    np.testing.assert_allclose(less[:, :, 1:], 0.25, atol=1e-5)

    few = ("shards=1", "settings.boards_per_shard=1", "settings.states_per_board=2", "settings.preflop_share=1.0")
    data_gen("job=leaf_states", "continuations=self_generated", *(f"job.{each}" for each in few), *IN_PROCESS, *common)
    (shard,) = open_shards(tmp_path / "leaf_states")
    assert shard.config["continuations"] == ["blueprint", "response_1", "response_2"]
    assert shard.arrays["labels"].shape[1] == 3


@pytest.mark.parametrize("few", [{"boards": 1}, {"form_boards": 1}, {"response_boards": 0}, {"match_boards": 1}])
def test_too_few_boards_are_refused_before_anything_is_computed(few: dict[str, int]) -> None:
    least = {"boards": 2, "form_boards": 2, "response_boards": 1, "match_boards": 2}
    Sampled(**least, seed=1)
    with pytest.raises(PokernetsError, match=r"job\.sampled needs boards"):
        Sampled(**{**least, **few}, seed=1)


def test_response_that_wins_less_than_the_blueprint_is_reported() -> None:
    assert shortfall(3, 1, {"gain_mbb": -40.0, "gain_half_width_95": 50.0}) is None
    warning = shortfall(3, 1, {"gain_mbb": -90.0, "gain_half_width_95": 50.0})
    assert "continuation 3 of player 1 wins 90 +- 50" in (warning or "")


SMALL = ("job=preflop_rollouts", "job.deals=2000", "job.iterations=2", "job.iteration_deals=1000")


def test_the_same_bytes_with_any_number_of_processes(tmp_path: Path) -> None:
    outputs = [tmp_path / f"{processes} processes" for processes in (1, 2)]
    logs = f"job.runs={tmp_path / 'runs'}"
    for processes, output in enumerate(outputs, 1):
        said = data_gen(*SMALL, logs, f"job.output={output}", f"cluster.processes={processes}")
        assert re.search(rf"about 0 s of CPU, 0 s on {processes} processes of .* MB on disk\n", said)
        assert "largest standard error" in said
    assert digests(outputs[0]) == digests(outputs[1])
    assert "are there" in data_gen(*SMALL, logs, f"job.output={outputs[0]}")


def test_artifact_that_another_command_makes_is_left_alone(tmp_path: Path) -> None:
    """The place is recognised whatever a command's `runs` and however the place is spelt."""
    made = tmp_path / "made"
    (tmp_path / "link").symlink_to(tmp_path)
    with held(tmp_path, "made"):
        for number, spelt in enumerate((made, tmp_path / "link" / "made", tmp_path / "x" / ".." / "made")):
            job = (*SMALL, f"runs={tmp_path / f'runs{number}'}", f"job.output={spelt}")
            assert "another command is making" in data_gen_fails(*job)
    assert not made.exists()
