"""`job=blueprint` from the command line: killed and continued, reused, extended, refused."""

import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_gen.blueprint import CHECKPOINT
from poker.abstraction.buckets import SmallGameBuckets
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import evaluate_policy
from poker.solvers.blueprint import Blueprint
from poker.solvers.curve import read_points
from poker.solvers.sampling.mccfr import ExternalSampling
from poker.solvers.sampling.uct import Uct
from poker.store.artifacts import open_artifact
from tests.cases import cases
from tests.commands import call_here, places
from tests.data_gen.commands import data_gen, data_gen_fails, data_gen_killed, digests
from tests.games import load_rules

LEDUC = ("job=blueprint", "game=leduc", "solver.threads=1", "solver.discount_every=100000", "job.seconds=null")


@pytest.mark.slow
@cases
def test_killed_and_continued_is_byte_identical(
    settings: tuple[str, ...], tables: tuple[str, ...], tmp_path: Path
) -> None:
    """`tests.solvers.sampling.test_all` has all sampling solvers, without the command line."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    often = ("job.checkpoint_seconds=0", "job.report_seconds=0.05")
    run = ("job=blueprint", "game=leduc", "solver.threads=1", "job.seconds=null", *settings)
    data_gen(*run, *places(whole))
    data_gen_killed("data_gen.blueprint:_Training.save", *run, *often, *places(broken))
    assert not (broken / "blueprint").exists()
    assert "continuing" in data_gen(*run, *often, *places(broken))
    assert (broken / "blueprint" / "strategy.npy").read_bytes() == (whole / "blueprint" / "strategy.npy").read_bytes()
    for name in (*tables, "streams"):
        file = f"blueprint.checkpoint/{name}.npy"
        assert (broken / file).read_bytes() == (whole / file).read_bytes()


@pytest.mark.parametrize("length", [["job.iterations=-1"], ["job.iterations=null", "job.seconds=0"]])
def test_a_blueprint_of_no_training_is_not_made(length: list[str], tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match=r"job\.iterations and job\.seconds must be positive or null"):
        call_here("data_gen", *LEDUC, *length, *places(tmp_path))


@pytest.mark.parametrize(
    ("setting", "message"), [("job.report_seconds=0", "must be positive"), ("job.bits=7", "8, 16 or 32 bits, not 7")]
)
def test_settings_that_would_fail_after_the_training_are_refused_before(
    setting: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(PokernetsError, match=message):
        train("job.iterations=1000", setting, *places(tmp_path))


def test_an_interrupted_run_keeps_its_last_stretch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [*LEDUC, "job.iterations=5000", "solver.batch=1000", "job.report_seconds=60", *places(tmp_path)]
    play = ExternalSampling.run

    def interrupted(solver: ExternalSampling, **limits: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        play(solver, **limits)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which pytest in the background ignores
    try:
        with monkeypatch.context() as patched:
            patched.setattr(ExternalSampling, "run", interrupted)
            with pytest.raises(KeyboardInterrupt):
                call_here("data_gen", *settings)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    checkpoint = open_artifact(tmp_path / "blueprint.checkpoint", CHECKPOINT)
    assert checkpoint.counts["iterations"] == 1000
    call_here("data_gen", *settings)
    assert open_artifact(tmp_path / "blueprint", "blueprint").counts["iterations"] == 5000


@pytest.mark.slow
def test_made_once_then_reused_extended_or_refused(tmp_path: Path) -> None:
    here = places(tmp_path)
    said = data_gen(*LEDUC, "job.iterations=20000", *here)
    assert "36 decision nodes" in said
    assert " MB " in said
    before = digests(tmp_path / "blueprint")
    assert "is there: 20,000 iterations" in data_gen(*LEDUC, "job.iterations=20000", *here)
    assert digests(tmp_path / "blueprint") == before
    assert "made with config seed=1, not with 2" in data_gen_fails(*LEDUC, "job.iterations=20000", "seed=2", *here)
    assert "config game='leduc', not with 'kuhn'" in data_gen_fails(*LEDUC, "job.iterations=1", "game=kuhn", *here)
    other = ("job.iterations=1", "game.raise_sizes=[4,8]")
    assert "made with config rules.raise_sizes=[2, 4], not with [4, 8]" in data_gen_fails(*LEDUC, *other, *here)
    assert digests(tmp_path / "blueprint") == before
    assert "continuing" in data_gen(*LEDUC, "job.iterations=1000000", *here)
    blueprint = Blueprint.load(tmp_path / "blueprint", SmallGameBuckets(load_rules("leduc")))
    king = blueprint.probs(blueprint.tree.find((3,)))[2]  # facing a raise with a king
    assert np.round(king, 2)[0] == 0


def train(*settings: str) -> None:
    """The job in this process."""
    call_here("data_gen", "job=blueprint", "game=leduc", "job.seconds=null", *settings)


@cases
def test_settings_of_one_trainer_alone_distinguish_two_runs(own: tuple[str, ...], message: str, tmp_path: Path) -> None:
    common = ("solver.threads=1", "solver.discount_every=4000", "solver.table_bits=32", *places(tmp_path))
    train(*common, "job.iterations=4000", *own)
    for iterations in (4000, 8000):  # the finished blueprint, the checkpoint
        with pytest.raises(PokernetsError, match=message):
            train(*common, f"job.iterations={iterations}")


def test_another_policy_of_the_same_training_is_taken_out_of_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ("solver=smooth_uct", "solver.threads=1", "job.iterations=5000", *places(tmp_path))
    train(*run, "solver.policy=average")
    shutil.rmtree(tmp_path / "blueprint")
    monkeypatch.delattr(Uct, "_play")
    train(*run, "solver.policy=greedy")
    made = open_artifact(tmp_path / "blueprint", "blueprint")
    assert (made.config["policy"], made.counts["iterations"]) == ("greedy", 5000)


@pytest.mark.slow
def test_the_curve_of_a_continued_run_is_that_of_an_uninterrupted_one(tmp_path: Path) -> None:
    """The policy of every point is stored, and its figures belong to the point."""
    curves = []
    for name, stops in (("whole", (40_000,)), ("parts", (15_000, 40_000))):
        here = tmp_path / name
        for stop in stops:
            settings = ("solver=smooth_uct", "job.curve.snapshots=true", f"job.iterations={stop}", "solver.threads=1")
            data_gen("job=blueprint", "game=kuhn", "job.seconds=null", "job.bits=32", *settings, *places(here))
        (file,) = here.rglob("curve_kuhn_smooth_uct_*.jsonl")
        curves.append({point["iterations"]: point for point in read_points(file)[1]})
    whole, parts = curves
    assert set(parts) == set(whole) | {15_000}
    thousands = (1, 2, 3, 4, 6, 7, 8, 10, 13, 16, 20, 26, 32, 40)  # whole batches after 10^(3 + k / 10)
    assert set(whole) == {1000 * n for n in thousands}
    for iterations, point in whole.items():
        assert {key: point[key] for key in ("mse", "nash_conv")} == {
            key: parts[iterations][key] for key in ("mse", "nash_conv")
        }
    policy = Blueprint.load(whole[10_000]["snapshot"], SmallGameBuckets(load_rules("kuhn")))
    assert policy.fingerprint == whole[10_000]["fingerprint"]
    assert evaluate_policy(policy.tree, policy.probs).nash_conv == pytest.approx(whole[10_000]["nash_conv"], abs=1e-6)
