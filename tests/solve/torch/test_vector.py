"""The kernels for a GPU equal the numba engine: in Triton's interpreter here, on CUDA where there is a device."""

from typing import Any

import numpy as np
import pytest
import torch

from poker.game.betting import Betting
from poker.game.rules import CALL
from poker.kernels.types import Board, Singles
from poker.run.errors import PokernetsError
from poker.solve.batches import run
from poker.solve.torch.batches import batch_of
from poker.solve.torch.vector import TorchVectorSolver
from poker.solve.types import Budget
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Rake
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.schedules import Schedule
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, DepthLimit, Gadget, bet_menu, build_tree
from tests.devices import CUDA, INTERPRETER
from tests.solve.test_restricted import modelled
from tests.solvers.games import kuhn, leduc, small_holdem, some_model, spot_game

MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[["a"], []], turn=[["a"], []])
ONE_BET = bet_menu(flop=[["a"]], turn=[[0.5]])
ALL_STREETS = bet_menu(preflop=[[]], flop=[["a"], []], turn=[["a"], []])
pytest.importorskip("triton", reason="the gpu extra, which `make test` installs")
DEVICES = ["cpu", CUDA] if INTERPRETER else [CUDA]
SMALL = small_holdem(ranks=3)
FLOP: Board = (3,)
LIMIT = DepthLimit(0, 3, (1,), cut_runouts=True)


def small_game(seed: int, tree: BettingTree | None = None, board: Board = (), **options: Any) -> VectorGame:
    """A game of small hold'em before the flop that ends with the round unless there is a tree."""
    ranges = np.random.default_rng(seed).random((2, SMALL.num_hands)).astype(np.float32)
    ranges[0, ::5] = 0
    return VectorGame(
        tree if tree is not None else build_tree(Betting.start(SMALL), MENU, LIMIT), board, ranges, **options
    )


def flop_tree(**options: Any) -> BettingTree:
    """Small hold'em from the flop on, with a card to come."""
    return build_tree(Betting.start(SMALL).apply(CALL).apply(CALL), ONE_BET, **options)


def leaf_game(seed: int, clusters: int = 5, dead: int = 0) -> VectorGame:
    """Leaves with values by pairs of clusters; some hands have none."""
    tree, rng = build_tree(Betting.start(SMALL), MENU, LIMIT, dead), np.random.default_rng(seed)
    groups = rng.integers(-1, clusters, (2, SMALL.num_hands)).astype(np.int32)
    values = rng.normal(size=(tree.num_leaf_states, 3, clusters, clusters)).astype(np.float32)
    return small_game(seed, tree, leaf_values=LeafValues(1, groups[0], groups[1], values))


def gadget_game(seed: int) -> VectorGame:
    alternatives = np.random.default_rng(seed).normal(size=SMALL.num_hands).astype(np.float32)
    return small_game(seed, flop_tree(gadget=Gadget(1, 1)), FLOP, alternatives=alternatives)


def rows_of(batch: TorchVectorSolver, name: str, number: int) -> Singles:
    """Action rows of one game, in the layout of its solver."""
    solver = VectorSolver(batch.games[number], batch.schedule)
    batch.export(number, solver)
    return solver.arrays[name]


def put(batch: TorchVectorSolver, solvers: list[VectorSolver]) -> None:
    """Continue the batch from the state of the solvers."""
    for name in solvers[0].arrays:
        batch.rows[name].copy_(torch.from_numpy(np.concatenate([solver.arrays[name] for solver in solvers])))


def assert_same_rows(batch: TorchVectorSolver, solvers: list[VectorSolver]) -> None:
    for number, solver in enumerate(solvers):
        game = solver.game
        for name, array in solver.arrays.items():
            theirs = rows_of(batch, name, number)
            for node in game.layout.decisions.tolist():
                for index in game.on(int(game.tree.street[node])):
                    rows = game.rows(array, node, index)
                    scale = max(1.0, float(np.abs(rows).max()))
                    np.testing.assert_allclose(game.rows(theirs, node, index), rows, rtol=1e-3, atol=1e-5 * scale)


def assert_same(
    games: list[VectorGame],
    device: str,
    algorithm: str | Schedule = "apdcfr",
    iterations: int = 2,
    restricted: int | None = None,
) -> TorchVectorSolver:
    """Every sweep starts from the same state on both sides, because ties would be broken by rounding."""
    solvers = [VectorSolver(game, algorithm) for game in games]
    if restricted is not None:
        for solver in solvers:
            reach = modelled(solver.game, restricted, some_model(solver.game.tree), 0.8)
            solver.restrict(restricted, np.float32(0.6) * reach)
    batch = batch_of(solvers, torch.device(device))
    for t in range(iterations):
        parameters = batch.schedule.parameters(t + 1, 1)
        for player in range(2):
            batch.sweep(player, parameters[0])
            for solver in solvers:
                solver.sweep(player, parameters)
            assert_same_rows(batch, solvers)
            put(batch, solvers)
    expected = [solver.exploitability() for solver in solvers]
    np.testing.assert_allclose(batch.exploitability(), expected, rtol=1e-3, atol=1e-5)
    return batch


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "algorithm", ["cfr_plus", "apdcfr", Schedule("pdcfr_plus", alpha=2.3, floor=True, prediction=1.0, gamma=5.0)]
)
def test_kuhn(algorithm: str | Schedule, device: str) -> None:
    ranges = np.random.default_rng(6).random((2, 3)).astype(np.float32)  # uneven: ties would be broken by rounding
    assert_same([VectorGame(build_tree(Betting.start(kuhn())), (), ranges)], device, algorithm, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_all_ins_with_a_card_to_come_and_rake(device: str) -> None:
    game, raked = small_game(1, flop_tree(), FLOP), small_game(2, flop_tree(), FLOP, rake=Rake(0.05))
    assert game.layout.runout_streets
    batch = assert_same([game, raked], device, "dcfr", 1)
    before = batch.launches
    batch.sweep(0, batch.schedule.parameters(1, 1)[0])
    assert batch.launches - before == 6


@pytest.mark.parametrize("device", DEVICES)
def test_unlike_games_in_one_batch(device: str) -> None:
    """Streets, decks, symmetric and other boards, few last cards, stakes, leaves, rake and gadgets of their own."""
    games = [
        VectorGame(build_tree(Betting.start(kuhn()))),
        VectorGame(build_tree(Betting.start(leduc()).apply(CALL))),
        leaf_game(3),
        gadget_game(4),
        leaf_game(5, clusters=3, dead=2),
        small_game(1, flop_tree(dead=3), (5,), rake=Rake(0.1)),
        leaf_game(3),
        small_game(6, build_tree(Betting.start(SMALL), ALL_STREETS), rivers=2),
    ]
    assert games[1].boards.boards.symmetric.any()
    assert_same(games, device, iterations=1)


@pytest.mark.parametrize("device", DEVICES)
def test_a_restricted_player(device: str) -> None:
    assert_same([leaf_game(3), small_game(1, flop_tree(), FLOP)], device, iterations=1, restricted=1)


@pytest.mark.parametrize("device", DEVICES)
def test_a_restricted_solve_stays_so_on_a_device(device: str) -> None:
    game = VectorGame(build_tree(Betting.start(kuhn())))
    solvers = [VectorSolver(game, "dcfr") for _ in range(2)]
    for solver in solvers:
        solver.restrict(1, np.float32(0.7) * modelled(game, 1, some_model(game.tree)))
    solvers[0].run(iterations=15)
    (done,) = run([solvers[1]], [Budget(15, 1e-9, device="torch" if device == "cpu" else device)])
    values = [solver.best_response_value(0) for solver in solvers]
    assert values[1] == pytest.approx(values[0], abs=1e-3)
    assert done.exploitability < 0.05
    batch = TorchVectorSolver([game], device=device)
    batch.run(1)
    with pytest.raises(PokernetsError, match="before the first iteration"):
        batch.restrict(1, [np.zeros(game.num_entries, np.float32)])


@pytest.mark.parametrize("device", DEVICES)
def test_a_river_with_every_hand(device: str) -> None:
    assert_same([spot_game("r1_river_full")], device, iterations=1)


@pytest.mark.parametrize("device", [CUDA])
def test_a_turn(device: str) -> None:
    assert_same([spot_game("t1_turn_basic")], device, iterations=1)


def test_locked_strategies_are_refused() -> None:
    game = VectorGame(build_tree(Betting.start(kuhn())))
    solver = VectorSolver(game)
    solver.lock(0, np.full((3, 2), 0.5, np.float32))
    with pytest.raises(PokernetsError, match="locked strategies are solved on the CPU only"):
        batch_of([solver], torch.device("cpu"))
