"""Continuation values on torch, many boards at once, are those of the CPU."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from data_gen.leaf_states import shard_rows
from poker.errors import PokernetsError
from poker.search.torch import continuations as torch_continuations
from poker.search.torch.continuations import TorchContinuations
from poker.solvers.blueprint import Blueprint
from poker.solvers.rollout.continuation import Continuations
from poker.solvers.rollout.forms import Biased
from poker.types import Board
from tests.data_gen.commands import data_gen
from tests.data_gen.test_leaf_states import SMALL, four_streets, settings
from tests.data_gen.tiny import tiny_blueprint
from tests.devices import CUDA
from tests.games import load_rules
from tests.solvers.rollout.test_continuation import small_blueprint

DEVICES = ["torch", CUDA]
LEDUC = small_blueprint(load_rules("leduc"))
HANDS = np.arange(6)
BOARDS: Sequence[Board] = [(card,) for card in range(6)]


def forms_of(blueprint: Blueprint, kind: str) -> list[Blueprint]:
    """Biased forms of one strategy; others of strategies of their own, the first not the blueprint."""
    if kind == "biased":
        return list(Biased(10.0).of(blueprint))
    other = small_blueprint(blueprint.rules)
    return [blueprint.biased("raise", 10.0), blueprint, other.biased("fold", 3.0)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["biased", "others"])
def test_values_are_those_of_the_kernels(kind: str, device: str) -> None:
    forms = forms_of(LEDUC, kind)
    kernels, on_torch = Continuations(LEDUC, forms), TorchContinuations(LEDUC, forms, device)
    equity = np.random.default_rng(1).random((6, 6))
    for node in (0, LEDUC.tree.children(0)[0]):
        found, expected = (each.values(node, BOARDS, HANDS, HANDS[1:], equity[:, 1:]) for each in (on_torch, kernels))
        np.testing.assert_array_equal(found.count, expected.count)
        np.testing.assert_allclose(found.mean, expected.mean, atol=2e-5)
        np.testing.assert_allclose(found.sem, expected.sem, atol=2e-5)
        assert np.abs(found.mean).max() > 1


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_a_shard_are_those_of_the_cpu(device: str) -> None:
    blueprint = four_streets()
    forms = Biased().of(blueprint)
    mixed = settings(preflop_share=0.5, boards_per_shard=3)
    found, expected = (
        shard_rows(each, mixed, 0)
        for each in (TorchContinuations(blueprint, forms, device), Continuations(blueprint, forms))
    )
    assert set(expected["street"].tolist()) == {0, 1}
    for name, column in expected.items():
        if name in ("labels", "label_sem"):
            np.testing.assert_allclose(found[name], column, atol=1e-5)
        else:
            np.testing.assert_array_equal(found[name], column)


def test_boards_that_do_not_fit_go_in_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forms, sizes, most = forms_of(LEDUC, "biased"), [], 2

    class Small(TorchContinuations):
        def _values(self, node, boards, hands0, hands1):  # type: ignore[no-untyped-def]
            sizes.append(len(boards))
            if len(boards) > most:
                raise torch.OutOfMemoryError
            return super()._values(node, boards, hands0, hands1)

    expected = Continuations(LEDUC, forms).values(0, BOARDS, HANDS, HANDS)
    small = Small(LEDUC, forms, "torch")
    np.testing.assert_allclose(small.values(0, BOARDS, HANDS, HANDS).mean, expected.mean, atol=2e-5)
    assert sizes == [6, 3, 1, 1, 1, 1, 1, 1]
    assert capsys.readouterr().err.count("ran out of memory") == 1
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        small.values(0, BOARDS, HANDS, HANDS)
    most = 9
    sizes.clear()
    need = 24 * len(small.subtree(0).player) * 4 * 12
    monkeypatch.setattr(torch_continuations, "room", lambda device: 4 * need)
    Small(LEDUC, forms, "torch").values(0, BOARDS, HANDS, HANDS)
    assert sizes == [4, 2]


def test_devices_that_are_not_there_are_refused() -> None:
    forms = forms_of(LEDUC, "biased")
    with pytest.raises(PokernetsError, match="choose cpu, cuda"):
        TorchContinuations(LEDUC, forms, "tpu")
    if not torch.cuda.is_available():
        with pytest.raises(PokernetsError, match="no CUDA device"):
            TorchContinuations(LEDUC, forms, "cuda")


@pytest.mark.slow
def test_the_job_on_torch(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    said = data_gen(*SMALL, "job.shards=2", "job.device=torch", *common, f"job.output={tmp_path}/made")
    assert "0 of 2 shards are there, 2 to make" in said
    assert "2 of 2 shards are there" in data_gen(*SMALL, "job.shards=2", *common, f"job.output={tmp_path}/made")
