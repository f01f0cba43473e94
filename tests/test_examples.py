"""The scripts of `examples/` run as they are."""

import re
import sys
from pathlib import Path

import pytest

from tests.commands import run_program
from tests.killed import ROOT
from tests.models.shards import write_leaf_states


def example(name: str, *arguments: object) -> str:
    """Run an example, which must succeed, and return what it prints."""
    return run_program(sys.executable, ROOT / "examples" / f"{name}.py", *arguments, PYTHONPATH=str(ROOT)).stdout


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


def test_ask_agent() -> None:
    out = example("ask_agent")
    assert "worth to you f -0.50 bb" in out  # the small blind, given up
    assert "you won" in out


def test_train_leaf_net(tmp_path: Path) -> None:
    write_leaf_states(tmp_path, 4000)
    out = example("train_leaf_net", tmp_path, 1)
    assert "pots on held-out states" in out
    assert out.count("on the button against KhQh") == 3
