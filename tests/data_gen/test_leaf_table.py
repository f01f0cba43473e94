"""`job=leaf_table`: complete, symmetric, the same when it is made again, and refused for another blueprint."""

import re
from pathlib import Path

import numpy as np
import pytest

from data_gen.leaf_table import TableSettings
from poker.abstraction.buckets import CardAbstraction
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.leaves.leaf_table import LeafTable, preflop_leaves
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint
from poker.store.artifacts import MismatchedArtifactError
from tests.data_gen.commands import data_gen, digests
from tests.data_gen.tiny import tiny_blueprint

BOARDS = 60


@pytest.mark.slow
def test_table_of_a_tiny_blueprint(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    job = ("job=leaf_table", f"job.settings.boards={BOARDS}", "cluster.processes=1", *common)
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
        with pytest.raises(PokernetsError, match="at least 2: values of one are noise"):
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
