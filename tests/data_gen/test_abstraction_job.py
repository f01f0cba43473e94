"""The job: reuse, continuation after an interruption, refusal of other settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_gen.abstraction import run
from poker.abstraction.buckets import CardAbstraction
from poker.abstraction.methods import Building, Method, StreetTable
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.run.parallel import LocalCluster
from poker.store.artifacts import MismatchedArtifactError


@dataclass
class TwoStreets(Method):
    """Preflop classes and a flop of noise; counts what it builds and fails on the flop as long as it is told to."""

    order = (0, 1)
    buckets: int = 7
    broken: bool = False
    calls: list[int] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, Any]:
        return {"name": "two_streets", "buckets": self.buckets}

    def __post_init__(self) -> None:
        """Its buckets are in no field that a method has."""

    @property
    def num_buckets(self) -> tuple[int, ...]:
        return 169, self.buckets

    def cpu_seconds(self, street: int) -> float:
        return 12.0 * street

    def build(self, street: int, built: Mapping[int, StreetTable], how: Building) -> StreetTable:
        assert how.cluster is None
        self.calls.append(street)
        none = np.zeros((0, 0), dtype=np.int16)
        if street == 0:
            return StreetTable(PREFLOP_CLASS[None], 169, none)
        how.progress("flop", 1, 2)
        if self.broken:
            raise KeyboardInterrupt
        assert built[0].num_buckets == 169
        table = np.random.default_rng(how.seed).integers(0, self.buckets, (NUM_BOARDS[3], NUM_HANDS), dtype=np.uint8)
        return StreetTable(table, self.buckets, none)


def make(method: TwoStreets, seed: int, output: str) -> CardAbstraction:
    run(method=method, seed=seed, output=output, cluster=LocalCluster(2))
    return CardAbstraction.load(output)


def test_a_finished_abstraction_is_reused(tmp_path: Path) -> None:
    output, method = str(tmp_path / "abstraction"), TwoStreets()
    made = make(method, 1, output)
    again = make(method, 1, output)
    assert method.calls == [0, 1]
    assert made.fingerprint == again.fingerprint
    assert made.num_buckets == (169, 7)
    assert [path.name for path in tmp_path.iterdir()] == ["abstraction"]


def test_one_made_for_other_stacks_is_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No game is among the settings of an abstraction, so another place for other stacks takes what is there."""
    method, others = TwoStreets(), str(tmp_path / "*" / "abstraction")
    made = make(method, 1, str(tmp_path / "deep" / "abstraction"))
    make(TwoStreets(buckets=9), 1, str(tmp_path / "coarse" / "abstraction"))
    output = str(tmp_path / "short" / "abstraction")
    run(method=method, seed=1, output=output, cluster=LocalCluster(2), others=others)
    assert CardAbstraction.load(output).fingerprint == made.fingerprint
    assert method.calls == [0, 1]
    assert f"{tmp_path}/deep/abstraction, which has the same settings" in capsys.readouterr().err
    run(method=method, seed=2, output=f"{output}2", cluster=LocalCluster(2), others=others)
    assert method.calls == [0, 1, 0, 1]


def test_an_interrupted_run_continues_with_its_street(tmp_path: Path) -> None:
    output, method = str(tmp_path / "abstraction"), TwoStreets(broken=True)
    with pytest.raises(KeyboardInterrupt):
        make(method, 1, output)
    method.broken = False
    made = make(method, 1, output)
    assert method.calls == [0, 1, 1]
    assert made.fingerprint == make(TwoStreets(), 1, str(tmp_path / "whole")).fingerprint


def test_streets_of_other_settings_are_refused_and_not_overwritten(tmp_path: Path) -> None:
    output, method = str(tmp_path / "abstraction"), TwoStreets(broken=True)
    with pytest.raises(KeyboardInterrupt):
        make(method, 1, output)
    other = TwoStreets(buckets=9)
    with pytest.raises(MismatchedArtifactError, match=r"preflop was made with config method\.buckets=7, not with 9"):
        make(other, 1, output)
    assert other.calls == []
    method.broken = False
    make(method, 1, output)
    assert method.calls == [0, 1, 1]


@pytest.mark.parametrize(("workers", "took"), [(2, "6 s on 2 threads"), (1, "12 s on 1 threads")])
def test_cost_is_printed_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], workers: int, took: str
) -> None:
    run(method=TwoStreets(), seed=1, output=str(tmp_path / "abstraction"), cluster=LocalCluster(workers))
    assert f"about 12 s of CPU, {took}, " in capsys.readouterr().err
