"""Rounds solved on torch, alone and together, are those of the CPU's kernels."""

from typing import Any

import numpy as np
import pytest
import torch

from poker.depth_limit.evaluator import LeafEvaluator
from poker.game.beliefs import observe_board
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, parse_cards
from poker.game.rules import CALL
from poker.kernels.types import Ranges
from poker.run.errors import PokernetsError
from poker.solve.clock import Clock
from poker.solve.modelled import Exploit, Modelled
from poker.solve.solution import RoundSolution
from poker.solve.solver import DepthLimitedSolver
from poker.solve.torch import batches as torch_batches
from poker.solve.torch import vector as torch_vector
from poker.solve.torch.vector import TorchVectorSolver
from poker.solve.types import Request, SolverSettings
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.tree import bet_menu, build_tree
from tests.devices import CHIPS, CUDA, FEW, INTERPRETER, SHARE
from tests.games import HEADS_UP as RULES
from tests.opponents.fixed import FixedFrequencies

pytest.importorskip("triton", reason="the gpu extra, which `make test` installs")
DEVICES = ["torch", CUDA] if INTERPRETER else [CUDA]
MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[[1.0], ["a"]], turn=[[1.0], []], river=[[1.0], []])
BOARD = parse_cards("2cKdAh7s9h")
MODELLED = Modelled(Exploit(0.5, FixedFrequencies(0.2, 0.3)), np.full(RULES.num_hands, 0.5))


class RandomLeaf(LeafEvaluator):
    """Three continuations, values by clusters drawn from the board."""

    num_continuations = 3

    def values(self, leaves: Any, board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        rng = np.random.default_rng([1, *board])
        clusters = np.where(HOLDEM.live(board), rng.integers(0, 6, RULES.num_hands), -1).astype(np.int32)
        values = np.stack([leaf.pot * rng.normal(size=(3, 6, 6)) for leaf in leaves]).astype(np.float32)
        return LeafValues(own, clusters, clusters, values)


def request(street: int, seed: int, opening: int = 300, **more: Any) -> Request:
    """A round after a raise and calls, with ranges of some random hands."""
    root = Betting.start(RULES)
    for action in (opening, CALL, *(CALL,) * (2 * street - 2)) if street else ():
        root = root.apply(action)
    board, rng = BOARD[: RULES.board_sizes[street]], np.random.default_rng(seed)
    ranges = np.where(rng.random((2, RULES.num_hands)) < 0.15, rng.random((2, RULES.num_hands)), 0)
    return Request(root, board, observe_board(ranges.astype(np.float32), board), 0, **more)


def solver(
    device: str, safety: str = "unsafe", clock: Clock | None = None, iterations: int = FEW, exploitability: float = 0.02
) -> DepthLimitedSolver:
    settings = SolverSettings("apdcfr", (iterations,), 2, exploitability, device)
    leaves = {0: RandomLeaf(), 1: RandomLeaf()}
    return DepthLimitedSolver(MENU, MENU, leaves, settings, safety, clock)


def assert_alike(solution: RoundSolution, expected: RoundSolution, chips: float = CHIPS) -> None:
    """Assert equal strategies and equal values of hands, up to rounding."""
    assert solution.policies.keys() == expected.policies.keys()
    for path, policy in solution.policies.items():
        assert policy.actions == expected.policies[path].actions
        np.testing.assert_allclose(policy.probs, expected.policies[path].probs, atol=SHARE)
    assert solution.values.keys() == expected.values.keys()
    values = ((solution.values[player], expected.values[player]) for player in solution.values)
    for one, other in ((solution.concessions, expected.concessions), *values):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.values.keys() == other.values.keys()
            for path in one.values:
                np.testing.assert_allclose(one.values[path], other.values[path], atol=chips, rtol=1e-4)
            for path, starts in one.starts.items():
                mine, theirs = (each.rows.astype(np.float32) * each.unit for each in (starts, other.starts[path]))
                np.testing.assert_allclose(mine, theirs, atol=chips, rtol=2e-3)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("street", range(4))
def test_rounds_agree_with_the_kernels(street: int, device: str) -> None:
    if device == "torch" and street == 2:
        pytest.skip("the interpreter takes minutes for a turn")
    kernels, on_torch = solver("cpu"), solver(device)
    kernels.keeps_values = on_torch.keeps_values = True
    assert_alike(on_torch(request(street, 1)), kernels(request(street, 1)))


@pytest.mark.parametrize("device", DEVICES)
def test_safe_solves_agree(device: str) -> None:
    posed = request(3, 2, alternatives=np.random.default_rng(1).normal(0, 300, RULES.num_hands).astype(np.float32))
    assert_alike(solver(device, "resolve")(posed), solver("cpu", "resolve")(posed))


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
def test_requests_are_answered_in_their_order(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streets and pots of their own go together, solves against a model by themselves."""
    flops = request(1, 2), request(1, 5, 400), request(1, 3, modelled=MODELLED)
    requests = [request(3, 1), flops[0], request(3, 3, 400), flops[2], flops[1]]
    sizes = []

    class Counted(TorchVectorSolver):
        def __init__(self, games: list[VectorGame], *others: Any, **more: Any) -> None:
            sizes.append(len(games))
            super().__init__(games, *others, **more)

    monkeypatch.setattr(torch_batches, "TorchVectorSolver", Counted)
    solutions = solver(device, iterations=2).together(requests)
    for solution, alone in zip(solutions, requests, strict=True):
        assert_alike(solution, solver("cpu", iterations=2)(alone))
    assert sizes == ([] if device == "cpu" else [4, 1])


def test_a_batch_that_does_not_fit_is_cut(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    requests = [request(3, seed) for seed in range(4)]
    sizes = []

    class Small(TorchVectorSolver):
        most = 4

        def __init__(self, games: list[VectorGame], *others: Any, **more: Any) -> None:
            sizes.append(len(games))
            if len(games) > self.most:
                raise torch.OutOfMemoryError
            super().__init__(games, *others, **more)

    monkeypatch.setattr(torch_batches, "TorchVectorSolver", Small)
    expected = solver("cpu", iterations=2).together(requests)
    for Small.most in (1, 0):  # at 0 the CPU's kernels solve
        sizes.clear()
        torch_batches.engine.cache_clear()
        for solution, other in zip(solver("torch", iterations=2).together(requests), expected, strict=True):
            assert_alike(solution, other)
        assert sizes == [4, 2, 1, 1, 2, 1, 1]
        assert capsys.readouterr().err.count("ran out of memory") == 1
    Small.most = 4
    torch_batches.engine.cache_clear()
    monkeypatch.setattr(torch_batches, "room", lambda device: 2.4 * torch_batches.bytes_needed(game(requests[0])))
    sizes.clear()
    solver("torch", iterations=2).together(requests)
    assert sizes == [2, 2]


def game(posed: Request) -> VectorGame:
    return VectorGame(build_tree(posed.root, MENU), posed.board, posed.ranges)


def test_memory_plan_covers_the_allocated_tensors() -> None:
    for street, most in ((2, 15), (3, 30)):
        games = [game(request(street, seed)) for seed in range(2)]
        batch = TorchVectorSolver(games, device="cpu" if INTERPRETER else "cuda")
        stored = sum(rows.nbytes for rows in batch.rows.values())
        assert stored < sum(map(torch_batches.bytes_needed, games)) < most * stored


@pytest.fixture
def measured_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solves are measured after each of their first iterations."""
    monkeypatch.setattr(torch_vector, "FEWEST_BETWEEN", 1)


@pytest.mark.usefixtures("measured_often")
def test_time_is_shared_and_exploitability_ends_a_solve() -> None:
    requests = [request(3, seed) for seed in range(2)]
    close = solver("torch", clock=Clock(per_decision=3600.0)).together(requests)
    assert all(np.isfinite(policy.probs).all() for solution in close for policy in solution.policies.values())
    solved = solver("torch", clock=Clock(per_decision=3600.0)).solved(requests[0])
    assert solved.exploitability() <= 0.02 * requests[0].root.pot
    assert 1 < solved.iterations < 500
    hurried = solver("torch", clock=Clock(per_decision=1e-6)).solved(requests[0])
    assert hurried.iterations < solved.iterations


@pytest.mark.parametrize("device", ["cpu", *DEVICES])
@pytest.mark.usefixtures("measured_often")
def test_exploitability_ends_every_solve_of_a_batch_where_it_ends_alone(device: str) -> None:
    requests, limit = [request(3, 1), request(3, 3, 9000)], 0.01
    solve = solver(device, iterations=400, exploitability=limit)
    alone = [solve.solved(each) for each in requests]
    assert all(one.iterations < 400 for one in alone), [f.iterations for f in alone]
    assert alone[0].iterations != alone[1].iterations
    for one, solution, each in zip(alone, solve.together(requests), requests, strict=True):
        assert one.exploitability() <= limit * each.root.pot
        assert_alike(solution, solve(each))


def test_devices_that_are_not_there_are_refused() -> None:
    with pytest.raises(PokernetsError, match="choose cpu, cuda"):
        solver("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(PokernetsError, match="no CUDA device; use device=cpu"):
            solver("cuda")
