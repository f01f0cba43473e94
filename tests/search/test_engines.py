"""Which engine does the iterations of solves, told by a clock that the engines turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from poker.search import round_solver
from poker.search.clock import Clock, Effort
from poker.search.engines import FasterEngine, KernelEngine, engine
from poker.search.torch.batches import kind_of
from poker.solvers.vector.solver import VectorSolver
from tests.search.torch import test_batches as rounds


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Timed(KernelEngine):
    """Takes `start` seconds and `each` for an iteration of one solve, or of all if they go `together`."""

    time: Time
    start: float
    each: float
    together: bool = False
    at_once: int = 1
    done: list[tuple[int, int | None, float | None]] = field(default_factory=list)
    """Solves, and iterations and seconds that they had."""

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        self.done.append((len(solvers), efforts[0].iterations, efforts[0].seconds))
        self.time.now += self.start + self.each * (efforts[0].iterations or 0) * (1 if self.together else len(solvers))


def engines(at_once: int = 1) -> tuple[FasterEngine, Timed, Timed]:
    """A device on which a batch costs as much as three solves of the kernels, and 100 iterations at first."""
    time = Time()
    kernels, device = Timed(time, 0.0, 1.0, at_once=at_once), Timed(time, 100.0, 3.0, together=True)
    return FasterEngine(kernels, device, kind_of, time), kernels, device


def solvers(count: int, street: int = 3) -> list[VectorSolver]:
    return [VectorSolver(rounds.game(rounds.request(street, seed)), "apdcfr") for seed in range(count)]


def test_a_batch_goes_where_it_takes_less_time() -> None:
    faster, kernels, device = engines()
    for count, iterations, chosen in ((2, 50, kernels), (4, 50, kernels), (6, 50, device), (4, 150, device)):
        faster.run(solvers(count), [Effort(iterations)] * count)
        assert chosen.done.pop() == (count, iterations, None)
    faster, kernels, device = engines(at_once=2)
    faster.run(solvers(6), [Effort(50)] * 6)
    assert kernels.done[-1] == (6, 50, None)


def test_what_was_timed_is_remembered_by_shape_and_size() -> None:
    faster, kernels, device = engines()
    for _ in range(2):
        faster.run(solvers(6), [Effort(50)] * 6)
    assert [count for count, *_ in kernels.done] == [1, 1, 1]
    assert [count for count, *_ in device.done] == [6] * 5
    faster.run(solvers(2), [Effort(50)] * 2)
    assert [count for count, *_ in kernels.done] == [1, 1, 1, 2]
    assert [count for count, *_ in device.done] == [6] * 5 + [2] * 3
    faster.run([*solvers(1), *solvers(1, street=2)], [Effort(50)] * 2)
    assert [count for count, *_ in kernels.done[4:]] == [1, 1, 1, 1, 1]  # both, and three trials of the turn


def test_trials_take_their_time_from_solves_that_have_a_limit() -> None:
    faster, kernels, _ = engines()
    for seconds in (1000.0 - 3 * 100 - (3 + 1) * (1 + 4 + 12), 1000.0, 0.0):
        faster.run(solvers(1), [Effort(None, seconds=1000.0 if seconds else 0.0)])
        assert kernels.done[-1] == (1, None, seconds)
    faster.run([*solvers(1), *solvers(1, street=2)], [Effort(None, seconds=1000.0)] * 2)
    assert kernels.done[-5][2] == 500.0


def test_solvers_are_as_if_no_trial_had_been() -> None:
    tried, alone = solvers(1)[0], solvers(1)[0]
    kernels = KernelEngine(1)
    FasterEngine(kernels, kernels, kind_of).run([tried], [Effort(5)])
    alone.run(5)
    assert tried.iterations == 5
    for name, array in alone.arrays.items():
        assert (tried.arrays[name] == array).all()


def test_auto_is_the_kernels_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert isinstance(engine("auto", 1), KernelEngine)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("poker.search.torch.device._tell", lambda device: None)
    assert isinstance(engine("auto", 1), FasterEngine)
    assert engine("auto", 1) is engine("auto", 1)


def test_solves_where_the_clock_chooses_the_engine_are_not_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds.solver("cpu").repeatable
    assert not rounds.solver("cpu", clock=Clock(per_hand=1.0)).repeatable
    monkeypatch.setattr(round_solver, "engine", lambda device, threads: engines()[0])
    assert not rounds.solver("auto").repeatable
