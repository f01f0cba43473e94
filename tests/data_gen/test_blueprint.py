"""`job=blueprint` from the command line: killed and continued, reused, extended, refused."""

from pathlib import Path

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.solvers.policy import Blueprint
from tests.data_gen.commands import data_gen, data_gen_fails, digests, kill_when
from tests.games import load_rules

LEDUC = ("job=blueprint", "game=leduc", "solver.threads=1", "solver.discount_every=100_000", "job.seconds=null")


def places(folder: Path) -> tuple[str, str]:
    return f"artifacts={folder}", f"runs={folder}/runs"


@pytest.mark.slow
def test_killed_and_continued_is_byte_identical(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    length = "job.iterations=1_500_000"
    often = ("job.checkpoint_seconds=0.1", "job.report_seconds=0.05")
    data_gen(*LEDUC, length, *places(whole))
    checkpoint = broken / "blueprint.checkpoint" / "manifest.json"
    kill_when(checkpoint.exists, *LEDUC, length, *often, *places(broken))
    assert not (broken / "blueprint").exists()
    assert "continuing" in data_gen(*LEDUC, length, *often, *places(broken))
    for name in ("blueprint/strategy.npy", "blueprint.checkpoint/table.npy", "blueprint.checkpoint/streams.npy"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.slow
def test_made_once_then_reused_extended_or_refused(tmp_path: Path) -> None:
    here = places(tmp_path)
    said = data_gen(*LEDUC, "job.iterations=20_000", *here)
    assert "36 decision nodes" in said
    assert " MB " in said
    before = digests(tmp_path / "blueprint")
    assert "is there: 20,000 iterations" in data_gen(*LEDUC, "job.iterations=20_000", *here)
    assert digests(tmp_path / "blueprint") == before
    assert "made with config seed=1, but 2" in data_gen_fails(*LEDUC, "job.iterations=20_000", "seed=2", *here)
    assert "made with config game='leduc', but 'kuhn'" in data_gen_fails(*LEDUC, "job.iterations=1", "game=kuhn", *here)
    assert digests(tmp_path / "blueprint") == before
    assert "continuing" in data_gen(*LEDUC, "job.iterations=1_000_000", *here)
    blueprint = Blueprint.load(tmp_path / "blueprint", SmallGameBuckets(load_rules("leduc")))
    king = blueprint.probs(blueprint.tree.find((3,)))[2]  # facing a raise with a king
    assert np.round(king, 2)[0] == 0


def test_settings_that_cannot_work_are_named(tmp_path: Path) -> None:
    here = places(tmp_path)
    assert "job.iterations" in data_gen_fails(
        "job=blueprint", "game=leduc", "job.iterations=null", "job.seconds=null", *here
    )
    assert "job=abstraction" in data_gen_fails("job=blueprint", "game=flop_holdem_nolimit", *here)
    assert "iteratons" in data_gen_fails(*LEDUC, "job.iteratons=5", *here)
