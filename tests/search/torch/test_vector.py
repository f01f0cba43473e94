"""The torch backend equals the numba engine, on the CPU here and on CUDA where there is one."""

from typing import Any

import numpy as np
import pytest
import torch

from poker.betting import Betting
from poker.errors import PokernetsError
from poker.search.torch.batches import solve_on_device
from poker.search.torch.layout import shape_of
from poker.search.torch.vector import TorchVectorSolver
from poker.solvers.rollout.leaf_values import LeafValues
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Rake
from poker.solvers.vector.schedules import Schedule
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, DepthLimit, Gadget, bet_menu, build_tree
from tests.bench.schedules import PDCFR_PLUS
from tests.devices import CUDA
from tests.solvers.games import kuhn, leduc, small_holdem, some_model, spot_game
from tests.solvers.vector.test_restricted import modelled

MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[["a"], []], turn=[["a"], []])
DEVICES = ["cpu", CUDA]


def small_game(seed: int, tree: BettingTree | None = None, **options: Any) -> VectorGame:
    ranges = np.random.default_rng(seed).random((2, 28)).astype(np.float32)
    ranges[0, ::5] = 0
    made = tree if tree is not None else build_tree(Betting.start(small_holdem()), MENU)
    return VectorGame(made, (), ranges, **options)


def rows_of(batch: TorchVectorSolver, name: str, number: int, node: int, index: int) -> torch.Tensor:
    """The [A, N] action rows of a decision of one game on a board of its own, as a view."""
    tree, games = batch.games[0].tree, batch.games
    street, player = int(tree.street[node]), int(tree.player[node])
    starts = [game.boards.boards.street_start[street : street + 2] for game in games]
    before = sum(int(ends[1] - ends[0]) for ends in starts[:number])
    entry = int(batch.layout.nodes.entry[batch.layout.position[node]])
    rows = batch.rows[name, street, player][entry : entry + int(tree.num_children[node])]
    return rows[:, before + index - int(starts[number][0])]


def exchange(batch: TorchVectorSolver, solvers: list[VectorSolver], compare: bool) -> None:
    """Compares the state of the numba solvers with the batch's, or copies it there."""
    for number, solver in enumerate(solvers):
        game = solver.game
        for node in game.layout.decisions.tolist():
            first, last = game.boards.boards.street_start[game.tree.street[node] :][:2]
            for index in range(first, last):
                for name, array in solver.arrays.items():
                    rows = torch.from_numpy(game.rows(array, node, index))
                    hands = rows.shape[1]
                    theirs = rows_of(batch, name, number, node, index)
                    if compare:
                        scale = max(1.0, float(rows.abs().max()))
                        torch.testing.assert_close(theirs[:, :hands].cpu(), rows, rtol=1e-3, atol=1e-5 * scale)
                    else:
                        theirs[:, :hands] = rows.to(theirs.device)


def assert_same(
    games: list[VectorGame], algorithm: str | Schedule, device: str, iterations: int, restricted: int | None = None
) -> None:
    """Every sweep starts from the same state on both sides, because ties would be broken by rounding."""
    batch, solvers = TorchVectorSolver(games, algorithm, device=device), [VectorSolver(g, algorithm) for g in games]
    if restricted is not None:
        model = some_model(games[0].tree)
        reach = [np.float32(0.6) * modelled(game, restricted, model, 0.8) for game in games]
        batch.restrict(restricted, reach)
        for solver, part in zip(solvers, reach, strict=True):
            solver.restrict(restricted, part)
    for t in range(iterations):
        parameters = batch.schedule.parameters(t + 1, 1)
        for player in range(2):
            batch.sweep(player, parameters[0])
            for solver in solvers:
                solver.sweep(player, parameters)
            exchange(batch, solvers, compare=True)
            exchange(batch, solvers, compare=False)
    for number, solver in enumerate(solvers):
        assert batch.exploitability()[number] == pytest.approx(solver.exploitability(), rel=1e-3, abs=1e-5)
        exported = VectorSolver(solver.game, algorithm)
        if restricted is not None:
            exported.restrict(restricted, reach[number])
        batch.export(number, exported)
        assert exported.game_value(0) == pytest.approx(solver.game_value(0), rel=1e-3, abs=1e-4)
        for node in solver.game.layout.decisions[:5].tolist():
            if solver.game.tree.street[node] == solver.game.layout.first_street:
                np.testing.assert_allclose(exported.strategy(node), solver.strategy(node), atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("algorithm", ["cfr_plus", "apdcfr", PDCFR_PLUS])
def test_kuhn_and_leduc(algorithm: str | Schedule, device: str) -> None:
    rng = np.random.default_rng(6)  # uneven ranges: ties would be broken by rounding
    for rules in (kuhn(), leduc()):
        ranges = rng.random((2, rules.num_hands)).astype(np.float32)
        assert_same([VectorGame(build_tree(Betting.start(rules)), (), ranges)], algorithm, device, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_two_card_games_with_runouts_and_rake(device: str) -> None:
    assert_same([small_game(1)], "dcfr", device, 3)
    assert_same([small_game(2, rake=Rake(0.05))], "dcfr", device, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_a_batch_of_games_of_one_tree(device: str) -> None:
    tree = build_tree(Betting.start(small_holdem()), MENU)
    assert_same([small_game(seed, tree) for seed in range(2)], "dcfr", device, 2)
    assert_same([small_game(seed, tree) for seed in range(2)], "dcfr", device, 2, restricted=0)


@pytest.mark.parametrize("device", DEVICES)
def test_depth_limit_leaves(device: str) -> None:
    tree = build_tree(Betting.start(small_holdem()), MENU, DepthLimit(0, 3, (1,), cut_runouts=True))
    rng = np.random.default_rng(4)
    clusters = rng.integers(-1, 5, (2, 28)).astype(np.int32)
    values = rng.normal(size=(tree.num_leaf_states, 3, 5, 5)).astype(np.float32)
    game = small_game(3, tree, leaf_values=LeafValues(1, clusters[0], clusters[1], values))
    assert_same([game], "dcfr", device, 3)
    assert_same([game], "apdcfr", device, 3, restricted=1)


@pytest.mark.parametrize("device", DEVICES)
def test_games_of_one_shape_with_chips_and_leaf_values_of_their_own(device: str) -> None:
    limit, games = DepthLimit(0, 3, (1,), cut_runouts=True), []
    for dead, count in ((0, 5), (3, 4)):
        tree = build_tree(Betting.start(small_holdem()), MENU, limit, dead)
        rng = np.random.default_rng(dead)
        clusters = rng.integers(-1, count, (2, 28)).astype(np.int32)
        values = rng.normal(size=(tree.num_leaf_states, 3, count, count)).astype(np.float32)
        games.append(small_game(dead, tree, leaf_values=LeafValues(1, clusters[0], clusters[1], values)))
    assert_same(games, "apdcfr", device, 3)
    assert_same(
        [small_game(1, build_tree(Betting.start(small_holdem()), MENU, dead=dead)) for dead in (0, 1)],
        "dcfr",
        device,
        2,
    )


@pytest.mark.parametrize("device", DEVICES)
def test_gadgets_at_the_root(device: str) -> None:
    tree = build_tree(Betting.start(small_holdem()), MENU, gadget=Gadget(1, 0))
    rng = np.random.default_rng(5)
    games = [small_game(seed, tree, alternatives=rng.normal(size=28).astype(np.float32)) for seed in range(2)]
    assert_same(games, "apdcfr_short", device, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_a_restricted_solve_stays_so_on_a_device(device: str) -> None:
    game = VectorGame(build_tree(Betting.start(leduc())))
    solvers = [VectorSolver(game, "dcfr") for _ in range(2)]
    for solver in solvers:
        solver.restrict(1, np.float32(0.7) * modelled(game, 1, some_model(game.tree)))
    solvers[0].run(iterations=200)
    done = solve_on_device(solvers[1], device, 200, 0.0, lambda _: None)
    values = [solver.best_response_value(0) for solver in solvers]
    assert values[1] == pytest.approx(values[0], abs=1e-3)
    assert done.exploitability < 0.02
    batch = TorchVectorSolver([game], device=device)
    batch.run(1)
    with pytest.raises(PokernetsError, match="before the first iteration"):
        batch.restrict(1, [np.zeros(game.num_entries, np.float32)])


@pytest.mark.parametrize("device", DEVICES)
def test_spots(device: str) -> None:
    assert_same([spot_game("r1_river_full")], "dcfr", device, 3)
    assert_same([spot_game("t1_turn_basic")], "dcfr", device, 1)


def test_what_cannot_be_batched_is_refused() -> None:
    other = build_tree(Betting.start(small_holdem()), bet_menu(preflop=[[1.0], []], flop=[["a"], []], turn=[["a"], []]))
    with pytest.raises(PokernetsError, match="share the shape of their betting"):
        TorchVectorSolver([small_game(1), small_game(2, other)])


def test_under_rake_pots_of_another_size_are_another_batch() -> None:
    menu = bet_menu(preflop=[["a"], []], flop=[["a"], []], turn=[["a"], []])
    small, large = (build_tree(Betting.start(small_holdem()), menu, dead=pot) for pot in (0, 100))
    np.testing.assert_array_equal(small.committed, large.committed)
    assert shape_of(small_game(1, small)) == shape_of(small_game(1, large))
    rake = Rake(0.05, cap=0.2)
    assert shape_of(small_game(1, small, rake=rake)) == shape_of(small_game(2, small, rake=rake))
    with pytest.raises(PokernetsError, match="share the shape of their betting and the rake"):
        TorchVectorSolver([small_game(1, small, rake=rake), small_game(2, large, rake=rake)])
