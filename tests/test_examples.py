"""The scripts of `examples/` run as they are."""

import re
from functools import partial
from pathlib import Path

import lightning
import pytest

from tests.commands import run_script
from tests.killed import ROOT
from tests.models.shards import write_leaf_states


def example(name: str, *arguments: object) -> str:
    """Run an example, which must succeed, and return what it prints."""
    done = run_script(ROOT / "examples" / f"{name}.py", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_solve_spot() -> None:
    out = example("solve_spot")
    assert "EV out of position 3" in out  # 36.97 of a pot of 60, in the exact solution as well
    assert "in position after `bet60`: fold" in out


def test_rps_plus_needs_more_than_one_value() -> None:
    naive, limited = (
        [float(number) for number in re.findall(r"0\.[0-9]+", line)] for line in example("rps_plus").splitlines()
    )
    assert naive[-1] > 0.1
    assert limited[:3] == pytest.approx([0.4, 0.4, 0.2], abs=1e-3)
    assert limited[-1] < 5e-3


def test_agent_answers_in_the_example() -> None:
    out = example("ask_agent")
    assert "worth to you f -0.50 bb" in out  # the small blind, given up
    assert "you won" in out


def test_train_leaf_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightning, "Trainer", partial(lightning.Trainer, limit_train_batches=20))
    write_leaf_states(tmp_path, 4000)
    out = example("train_leaf_net", tmp_path, 1)
    assert "pots on held-out states" in out
    assert out.count("on the button against KhQh") == 3
