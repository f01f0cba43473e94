"""Which engine does the iterations of solves."""

import pytest

from poker.search.clock import Clock
from poker.search.engines import KernelEngine, engine
from tests.search.torch import test_batches as rounds


def test_auto_is_cuda_where_there_is_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert isinstance(engine("auto", 1), KernelEngine)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("poker.search.torch.device._tell", lambda device: None)
    assert type(engine("auto", 1)).__name__ == "TorchEngine"


def test_solves_that_the_clock_ends_are_not_repeatable() -> None:
    assert rounds.solver("cpu").repeatable
    assert not rounds.solver("cpu", clock=Clock(per_hand=1.0)).repeatable
