"""The vector engine on toy games, against plain Python, and on the reference spots."""

import numpy as np
import pytest

from poker.formats.ranges import parse_range
from poker.game.cards import parse_cards
from poker.game.rules import CALL, Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Rake
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.schedules import SCHEDULES, Schedule, schedule
from poker.solvers.vector.solver import VectorSolver
from poker.tree import DepthLimit, build_tree
from poker.tree.spots import spot_tree
from tests.bench.vector import GOLDEN, flop_holdem
from tests.solvers.games import ORACLES, SPOTS, kuhn, leduc, small_holdem, spot_game
from tests.solvers.reference import Reference, ReferenceCFR
from tests.solvers.resolving import MENU, exported, game_tree

LINEAR = Schedule("linear", alpha=1.0, beta=1.0, gamma=1.0)
PDCFR_PLUS = Schedule("pdcfr_plus", alpha=2.3, floor=True, prediction=1.0, gamma=5.0)


def random_ranges(num_hands: int, seed: int = 1) -> np.ndarray:
    ranges = np.random.default_rng(seed).random((2, num_hands)).astype(np.float32)
    ranges[0, ::5] = 0
    ranges[1, ::7] = 0
    return ranges


@pytest.mark.parametrize("rules", [kuhn(), leduc()], ids=["kuhn", "leduc"])
def test_uniform_policy_has_the_published_nash_conv(rules: Rules) -> None:
    solver = VectorSolver(VectorGame(build_tree(Betting.start(rules))))
    assert 2 * solver.exploitability() == pytest.approx(ORACLES[rules.name]["uniform_nash_conv"], abs=2e-6)


@pytest.mark.parametrize(
    "algorithm", [*map(schedule, SCHEDULES), LINEAR, PDCFR_PLUS], ids=lambda algorithm: algorithm.name
)
def test_kuhn_reaches_its_value(algorithm: Schedule) -> None:
    solver = VectorSolver(VectorGame(build_tree(Betting.start(kuhn()))), algorithm)
    solver.run(iterations=1000)
    assert solver.game_value(0) == pytest.approx(-1 / 18, abs=1e-4)
    assert solver.game_value(1) == pytest.approx(1 / 18, abs=1e-4)
    assert 2 * solver.exploitability() < 2e-3


@pytest.mark.parametrize("isomorphism", [True, False])
def test_leduc_reaches_its_value(isomorphism: bool) -> None:
    solver = VectorSolver(VectorGame(build_tree(Betting.start(leduc())), isomorphism=isomorphism), "cfr_plus")
    solver.run(iterations=1000)
    assert 2 * solver.exploitability() < 0.02
    assert solver.game_value(0) == pytest.approx(ORACLES["leduc"]["game_value_player0"], abs=1e-3)


@pytest.mark.parametrize("symmetric", [True, False])
def test_equals_plain_python_on_a_two_card_game(symmetric: bool) -> None:
    tree = game_tree(small_holdem())
    ranges = np.ones((2, 28), np.float32) if symmetric else random_ranges(28)
    game = VectorGame(tree, (), ranges)
    assert (len(game.boards.groups[0]) == 2) == symmetric
    solver, reference = VectorSolver(game, "cfr_plus"), ReferenceCFR(tree, (), ranges.astype(np.float64))
    solver.run(iterations=1)
    reference.iterate()
    compared = 0
    for (node, board), regrets in reference.regrets.items():
        if tree.player[node] == 0:
            clear = (ranges[0] > 0) & (regrets.sum(axis=1) > 1e-3) & (reference.live(board) > 0)
            ours = solver.current_strategy(node, board)[clear]
            np.testing.assert_allclose(ours, reference.current(node, board)[clear], atol=1e-4)
            compared += clear.sum()
    assert compared > 400
    solver.run(iterations=9)
    profile = exported(solver)
    assert 2 * solver.exploitability() == pytest.approx(reference.nash_conv(profile), rel=1e-5, abs=1e-5)
    for p in range(2):
        assert solver.game_value(p) == pytest.approx(reference.root_value(p, profile, best=False), abs=1e-5)
        values = reference.values(0, p, (), game.ranges[1 - p].astype(float), profile, best=False)
        inside = game.ranges[p] > 0
        np.testing.assert_allclose(
            solver.values(p)[inside], (values / game.compatible[p])[inside], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("choosers", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("orbits", [False, True])
def test_depth_limit_equals_plain_python(choosers: tuple[int, ...], own: int, orbits: bool) -> None:
    rules = small_holdem()
    tree = build_tree(Betting.start(rules), MENU, DepthLimit(0, 3, choosers, cut_runouts=True))
    rng = np.random.default_rng(4)
    own_cluster, opp_cluster = rng.integers(-1, 5, 28), rng.integers(-1, 19, 28)
    ranges = random_ranges(28)
    if orbits:
        own_cluster = opp_cluster = np.unique(deck_of(rules).hand_map.min(axis=0), return_inverse=True)[1]
        ranges = rng.random((2, 16), np.float32)[:, own_cluster]
    shape = tree.num_leaf_states, 3 ** len(choosers), own_cluster.max() + 1, opp_cluster.max() + 1
    values = rng.normal(size=shape).astype(np.float32)
    leaf = LeafValues(own, own_cluster.astype(np.int32), opp_cluster.astype(np.int32), values)
    solver = VectorSolver(VectorGame(tree, (), ranges, leaf), "dcfr")
    assert solver.game.clusters_are_orbits == orbits
    solver.run(iterations=20)
    assert_equal(solver, Reference(tree, (), ranges.astype(np.float64), leaf))


def assert_equal(solver: VectorSolver, reference: Reference) -> None:
    """Assert that the strategy has the values and the exploitability of the reference."""
    profile = exported(solver)
    assert 2 * solver.exploitability() == pytest.approx(reference.nash_conv(profile), rel=1e-4, abs=1e-5)
    for player in range(2):
        expected = reference.root_value(player, profile, best=False)
        assert solver.game_value(player) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_rake_equals_plain_python() -> None:
    tree, ranges = game_tree(small_holdem()), random_ranges(28)
    solver = VectorSolver(VectorGame(tree, (), ranges, rake=Rake(0.1)), "dcfr")
    solver.run(iterations=30)
    assert_equal(solver, Reference(tree, (), ranges.astype(np.float64), rake=0.1))
    assert solver.game_value(0) + solver.game_value(1) < -0.1


def test_locked_nodes_stay_and_the_rest_responds() -> None:
    tree = build_tree(Betting.start(leduc()))
    solver = VectorSolver(VectorGame(tree, isomorphism=False), "cfr_plus")
    for node in solver.game.layout.decisions.tolist():
        if tree.player[node] == 1:
            solver.lock(node, np.ones((6, tree.num_children[node]), np.float32))
    solver.run(iterations=500)
    uniform = VectorSolver(VectorGame(tree, isomorphism=False))
    assert solver.game_value(0) == pytest.approx(uniform.best_response_value(0), abs=1e-2)
    assert solver.exploitability() < 1e-2
    node = tree.find((0,))
    np.testing.assert_allclose(solver.strategy(node), 1 / tree.num_children[node], rtol=1e-5)
    with pytest.raises(PokernetsError, match="before the first iteration"):
        solver.lock(node, np.ones((6, 2), np.float32))
    suits = np.tile([[1.0, 0.0], [0.0, 1.0]], (3, 1)).astype(np.float32)
    with pytest.raises(PokernetsError, match="isomorphism=False"):
        VectorSolver(VectorGame(tree)).lock(0, suits)


def test_locked_strategies_may_be_solved_around_with_merged_boards() -> None:
    tree = build_tree(Betting.start(leduc()))
    values = []
    for isomorphism in (True, False):
        solver, rng = VectorSolver(VectorGame(tree, isomorphism=isomorphism), "cfr_plus"), np.random.default_rng(5)
        for node in solver.game.layout.decisions.tolist():
            if tree.street[node] == 0:
                solver.lock(node, np.repeat(rng.random((3, tree.num_children[node]), np.float32), 2, axis=0))
        solver.run(iterations=1000)
        assert solver.exploitability() < 2e-3
        values.append(solver.game_value(0))
    assert values[0] == pytest.approx(values[1], abs=2e-3)


@pytest.mark.parametrize("player", [0, 1])
def test_a_recorded_best_response_wins_its_value(player: int) -> None:
    solver = VectorSolver(VectorGame(build_tree(Betting.start(leduc()))))
    solver.run(iterations=3)
    game, actions = solver.game, np.zeros(solver.game.num_entries, np.uint8)
    value = solver.best_response_value(player)
    assert solver.game_value(player) < value - 0.05
    assert solver.best_response(player, actions) == value
    for node in game.tree.decision_nodes[game.tree.player[game.tree.decision_nodes] == player].tolist():
        for board in game.on(int(game.tree.street[node])):
            best = game.rows(actions, node, board)[0]
            solver.set_average(node, board, np.eye(game.tree.num_children[node], dtype=np.float32)[best])
    assert solver.game_value(player) == pytest.approx(value, abs=1e-6)


def test_action_values_average_to_the_values_of_hands() -> None:
    solver = VectorSolver(spot_game("t1_turn_basic"))
    solver.run(iterations=20)
    inside = solver.game.ranges[0] > 0
    mixed = (solver.strategy(0) * solver.action_values(0))[inside].sum(axis=1)
    np.testing.assert_allclose(mixed, solver.values(0)[inside], rtol=1e-3, atol=1e-2)


def test_leaf_values_that_do_not_fit_are_refused() -> None:
    tree = build_tree(Betting.start(small_holdem()), MENU, DepthLimit(0, 2, (1,)))
    clusters = np.zeros(28, np.int32)
    with pytest.raises(PokernetsError, match="leaf values are needed"):
        VectorGame(tree)
    with pytest.raises(PokernetsError, match="the tree has"):
        VectorGame(tree, (), None, LeafValues(0, clusters, clusters, np.zeros((1, 2, 1, 1), np.float32)))
    with pytest.raises(PokernetsError, match="`opp_cluster` must be"):
        LeafValues(0, clusters, clusters + 1, np.zeros((1, 2, 1, 1), np.float32))


def test_threads_do_not_change_a_bit() -> None:
    results = []
    for threads in (1, 2):
        solver = VectorSolver(spot_game("t1_turn_basic"), "dcfr", threads=threads)
        solver.run(iterations=3)
        results.append(solver.strategy(0))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("name", SPOTS)
def test_reference_spots(name: str) -> None:
    spot, game = SPOTS[name], spot_game(name)
    pot = game.tree.dead
    solver = VectorSolver(game, threads=2)
    done = solver.run(exploitability=0.001, iterations=600)
    assert done.exploitability <= 0.001 * pot
    for player in range(2):
        assert solver.game_value(player) == pytest.approx(spot["ev"][player], abs=0.001 * pot)
    weights = game.ranges[0] * game.compatible[0]
    frequencies = weights @ solver.strategy(0) / weights.sum()
    np.testing.assert_allclose(frequencies, spot["root_average_strategy"], atol=0.03)


@pytest.mark.slow
def test_flop_holdem_converges_like_the_reference() -> None:
    """Exploitability after 100 iterations of CFR+ is within 10% of the reference's, if the first iteration checks or
    calls with every hand as the reference's does; the button's value is in bounds."""
    game = flop_holdem()
    solver = VectorSolver(game, "cfr_plus", threads=2)
    for node in game.layout.decisions.tolist():
        for index in game.on(int(game.tree.street[node])):
            game.rows(solver.arrays["regrets"], node, index)[game.tree.actions(node).index(CALL)] = 1e-6
    solver.run(iterations=100)
    theirs = GOLDEN["flop_holdem"]["cfr_plus_linear_averaging_from_iteration_1"]["100"]
    assert 1000 * solver.exploitability() / 2 == pytest.approx(theirs, rel=0.1)
    low, high = GOLDEN["flop_holdem"]["button_value_chips_between"]
    assert low <= solver.game_value(1) <= high


def test_bad_games_are_refused_with_one_message() -> None:
    game = spot_game("r1_river_full")
    tree, board = game.tree, game.board
    with pytest.raises(PokernetsError, match="twice"):
        VectorGame(tree, (*board[:4], board[0]))
    with pytest.raises(PokernetsError, match="has 5 cards"):
        VectorGame(tree, board[:4])
    blocked = np.zeros((2, 1326), np.float32)
    blocked[0, 0] = 1
    blocked[1, 5] = 1
    with pytest.raises(PokernetsError, match="range of player 0 is empty"):
        VectorGame(tree, (0, 1, 2, 3, 4), blocked)
    with pytest.raises(PokernetsError, match="at least 0"):
        VectorGame(tree, board, -game.ranges)
    with pytest.raises(PokernetsError, match=r"needs \d MiB, more than the limit"):
        VectorSolver(VectorGame(tree, board, memory_limit=1000))
    with pytest.raises(PokernetsError, match="unknown algorithm `best`"):
        VectorSolver(game, "best")


@pytest.mark.parametrize("board", ["Td9d6h", "Kd8d3d"])
@pytest.mark.slow
def test_merged_suits_change_nothing_over_three_streets(board: str) -> None:
    tree = spot_tree(3, 100, 120, {"bet": "a", "raise": "a"})
    ranges = np.stack([parse_range("AKs,77,QJo:0.5"), parse_range("99,AQs,KQs,JTs")])
    results = []
    for isomorphism in (True, False):
        game = VectorGame(tree, parse_cards(board), ranges, isomorphism=isomorphism)
        solver = VectorSolver(game, threads=2)
        uniform = solver.exploitability()
        solver.run(iterations=60)
        policy = solver.strategy(tree.find((0, 0, 0)), (*game.board, *parse_cards("2s")))
        results.append((len(game.boards.cards), uniform, solver.game_value(0), policy))
    merged, whole = results
    assert merged[0] < 0.8 * whole[0]
    assert merged[1] == pytest.approx(whole[1], rel=1e-5)
    assert merged[2] == pytest.approx(whole[2], abs=0.1)  # 0.1% of pot; ties are broken by rounding
    assert np.median(abs(merged[3] - whole[3])[merged[3].sum(axis=1) > 0]) < 0.02
