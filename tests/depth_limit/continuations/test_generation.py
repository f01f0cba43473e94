"""The claims of [DLS] section 4, exact in Leduc and in a flop game with few bets, and values under a first round."""

from functools import lru_cache

import numpy as np
import pytest

from poker.depth_limit.continuations.generation import (
    ContinuationSet,
    Solving,
    Step,
    biased,
    limited_game,
    self_generated,
)
from poker.depth_limit.continuations.leaf_play import BLUEPRINT, LeafPlay, Play, biased_play
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS, action_classes, bias_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, DepthLimit, Kind, bet_menu, build_tree
from tests.solvers.games import kuhn, leduc

SOLVING = Solving(iterations=1000)
ANTE = {"leduc": 1, "flop": 2}


@lru_cache
def equilibrium(name: str) -> tuple[LeafPlay, BetMenu | None]:
    return blueprint(name, 1500)


@lru_cache
def poor(name: str) -> tuple[LeafPlay, BetMenu | None]:
    return blueprint(name, 15)


def searcher_strength(
    play: LeafPlay, menu: BetMenu | None, continuations: ContinuationSet, size: int, solving: Solving
) -> Step:
    """The searcher's solution of the first round with the first `size` continuations, solved from nothing, measured by
    the best response to it and the blueprint."""
    opponent, tree = continuations.opponent, play.game.tree
    solver = VectorSolver(limited_game(continuations, size, play.game.rules, menu), solving.algorithm)
    solver.run(iterations=solving.iterations)
    whole, limited = VectorSolver(play.game), solver.game.tree
    whole.arrays["sums"][:] = play.solver.arrays["sums"]
    for node in np.flatnonzero((tree.kind == Kind.DECISION) & (tree.street == 0) & (tree.player != opponent)).tolist():
        rows = solver.strategy(limited.find(tree.path(node)))
        whole.set_average(node, 0, rows[play.game.hands(1 - opponent)])
    value = whole.best_response_value(opponent)
    return Step(size, solver.game_value(opponent), solver.exploitability(), value)


def responses(continuations: ContinuationSet) -> np.ndarray:
    return np.array([step.response_value for step in continuations.steps])


@pytest.mark.parametrize("opponent", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "flop"])
def test_from_an_equilibrium_enough_continuations_make_the_first_round_one(name: str, opponent: int) -> None:
    play, menu = equilibrium(name)
    continuations = self_generated(play, menu, opponent, 8, solving=SOLVING)
    exploitability = (responses(continuations) - play.solver.game_value(opponent)) / ANTE[name]
    assert exploitability[0] > 0.02
    assert exploitability[-1] < 1e-3
    strength = searcher_strength(play, menu, continuations, 8, SOLVING).response_value
    assert strength == pytest.approx(responses(continuations)[-1], abs=1e-3)


@pytest.mark.parametrize("opponent", [0, 1])
def test_exploitability_of_a_poor_blueprint_falls_to_the_floor_of_its_second_round(opponent: int) -> None:
    play, menu = poor("leduc")
    continuations = self_generated(play, menu, opponent, 10, solving=SOLVING)
    least = least_response(play, opponent)
    assert least > equilibrium("leduc")[0].solver.game_value(opponent) + 0.01
    assert responses(continuations)[0] > least + 0.05
    assert responses(continuations)[-1] == pytest.approx(least, abs=1e-3)


def least_response(play: LeafPlay, opponent: int) -> float:
    """Chips a best response wins when the searcher plays the first round as well as its second-round play allows."""
    tree = play.game.tree
    solver = VectorSolver(VectorGame(tree, isomorphism=False))
    game = solver.game
    for node in np.flatnonzero((tree.kind == Kind.DECISION) & (tree.street == 1) & (tree.player != opponent)).tolist():
        number = int(tree.num_children[node])
        solver.lock(node, np.ones((game.rules.num_hands, number), np.float32))
        for board in game.on(1):
            rows = play.solver.strategy(node, game.boards.cards[board])
            solver.set_average(node, board, rows[game.hands(1 - opponent, board)])
    solver.advance(2000)
    return solver.best_response_value(opponent)


@pytest.mark.parametrize(("name", "opponent"), [("flop", 0), ("leduc", 1)])
def test_a_part_of_the_pot_is_taken_off_every_response(name: str, opponent: int) -> None:
    play, menu = poor(name)
    continuations = self_generated(play, menu, opponent, 2, pot_fraction=0.05, solving=SOLVING)
    free = self_generated(play, menu, opponent, 2, solving=SOLVING)
    lowered = (free.values - continuations.values) * (1 if opponent == 0 else -1)
    tree = play.game.tree
    for leaf, node in enumerate(play.nodes.tolist()):
        bets = tree.kind[tree.after_deal(node)] == Kind.DECISION
        np.testing.assert_allclose(lowered[leaf, 0], 0, atol=1e-6)
        np.testing.assert_allclose(lowered[leaf, 1], 0.05 * tree.pot(node) * bets, atol=1e-4)


def test_biased_forms_are_measured_like_generated_ones() -> None:
    play, menu = equilibrium("leduc")
    continuations = biased(play, 1)
    generated = self_generated(play, menu, 1, 2, solving=SOLVING)
    naive = searcher_strength(play, menu, continuations, 1, SOLVING)
    four = searcher_strength(play, menu, continuations, 4, SOLVING)
    assert naive.response_value == pytest.approx(generated.steps[0].response_value, abs=1e-4)
    assert four.response_value < naive.response_value - 0.1


def test_the_blueprint_is_left_as_it_was_and_foreign_menus_are_refused() -> None:
    play, menu = blueprint("flop", 5)
    before = play.solver.arrays["sums"].copy()
    self_generated(play, menu, 0, 2, solving=Solving(iterations=10))
    np.testing.assert_array_equal(before, play.solver.arrays["sums"])
    with pytest.raises(PokernetsError, match="menu"):
        self_generated(play, bet_menu(preflop=["a"], flop=["a"]), 0, 2, solving=Solving(iterations=10))


def test_solve_starts_from_the_previous_one() -> None:
    play, menu = equilibrium("flop")
    continuations = self_generated(play, menu, 1, 8, solving=Solving(iterations=100))
    cold = searcher_strength(play, menu, continuations, 8, Solving(iterations=100))
    assert continuations.steps[-1].limited_exploitability < 0.5 * cold.limited_exploitability


def flop_game() -> tuple[Rules, BetMenu]:
    """Two hole cards from a deck of six ranks and two suits, and a board of two cards; few bets."""
    rules = Rules("flop", 2, "nolimit", (1, 2), (60, 60), (), (), (0, 1), 2, 6, 2, (0, 2))
    return rules, bet_menu(preflop=[[1.0], [1.0], ["a"]], flop=[[1.0], ["a"], []])


def blueprint(name: str, iterations: int) -> tuple[LeafPlay, BetMenu | None]:
    rules, menu = (leduc(), None) if name == "leduc" else flop_game()
    solver = VectorSolver(VectorGame(build_tree(Betting.start(rules), menu)), "cfr_plus")
    solver.advance(iterations)
    return LeafPlay(solver, threads=2), menu


def limited(play: LeafPlay, menu: BetMenu | None, values: np.ndarray) -> VectorSolver:
    """The blueprint's first round with values [L, C, C] at its end."""
    tree = build_tree(Betting.start(play.game.rules), menu, DepthLimit(0, 1, (), cut_runouts=True))
    order = [play.leaves.index(tree.path(int(node))) for node in tree.leaves]
    solver = VectorSolver(
        VectorGame(tree, leaf_values=LeafValues(0, play.clusters, play.clusters, values[order][:, None]))
    )
    for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
        rows = play.solver.strategy(play.game.tree.find(tree.path(node)))
        solver.set_average(node, 0, rows[solver.game.hands(int(tree.player[node]))])
    return solver


def largest_difference(
    play: LeafPlay, menu: BetMenu | None, strategies: tuple[Play, Play], full: VectorSolver
) -> float:
    """How far values of hands in the limited game are from those of the whole one."""
    short = limited(play, menu, play.values(strategies))
    return max(float(np.abs(short.values(player) - full.values(player)).max()) for player in range(2))


@pytest.mark.parametrize("name", ["leduc", "flop"])
def test_value_of_the_blueprint_equals_that_of_the_whole_game(name: str) -> None:
    play, menu = blueprint(name, 3)
    assert largest_difference(play, menu, (BLUEPRINT, BLUEPRINT), play.solver) < 2e-5


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "flop"])
def test_value_of_a_recorded_response_equals_its_rollout(name: str, player: int) -> None:
    play, menu = blueprint(name, 3)
    tree = play.game.tree
    actions = np.zeros(play.game.num_entries, np.uint8)
    play.solver.best_response(player, actions)
    response = play.recorded(player, actions)
    response_values = play.values((response, BLUEPRINT) if player == 0 else (BLUEPRINT, response))
    blueprint_values = play.values((BLUEPRINT, BLUEPRINT))
    for node in play.game.layout.decisions.tolist():
        street, actor, choices = (int(each[node]) for each in (tree.street, tree.player, tree.num_children))
        for board in play.game.on(1) if (street, actor) == (1, player) else ():
            chosen = np.eye(choices, dtype=np.float32)[play.game.rows(actions, node, board)[0]]
            play.solver.set_average(node, board, chosen)
    short = limited(play, menu, response_values)
    assert np.abs(response_values - blueprint_values).max() > 0.1
    np.testing.assert_allclose(short.values(1 - player), play.solver.values(1 - player), atol=2e-5)
    np.testing.assert_allclose(short.values(player), play.solver.values(player), atol=2e-5)


@pytest.mark.parametrize("kind", CONTINUATIONS)
def test_biased_forms_multiply_probabilities(kind: str) -> None:
    play, menu = blueprint("flop", 3)
    tree, full = play.game.tree, VectorSolver(play.game)
    by_class, average = np.array(bias_of(kind, 10.0)), play.solver.normalised_average()
    for node in play.game.layout.decisions.tolist():
        factors = by_class[action_classes(np.array(tree.actions(node)))]
        for board in play.game.on(int(tree.street[node])):
            rows = play.game.rows(average, node, board)
            if tree.street[node] == 1 and tree.player[node] == 1:
                rows = rows * factors[:, None]
            full.set_average(node, board, (rows / rows.sum(axis=0)).T.astype(np.float32))
    assert largest_difference(play, menu, (BLUEPRINT, biased_play(tree, kind, 10.0)), full) < 2e-5


def test_games_without_a_second_round_are_refused() -> None:
    with pytest.raises(PokernetsError, match="two rounds"):
        LeafPlay(VectorSolver(VectorGame(build_tree(Betting.start(kuhn())))))
