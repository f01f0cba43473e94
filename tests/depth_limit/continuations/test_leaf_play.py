"""Values at the end of the first round put under a tree that ends there give the values of the whole game."""

import numpy as np
import pytest

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


def check(play: LeafPlay, menu: BetMenu | None, strategies: tuple[Play, Play], full: VectorSolver) -> None:
    short = limited(play, menu, play.values(strategies))
    for player in range(2):
        np.testing.assert_allclose(short.values(player), full.values(player), atol=2e-5)


@pytest.mark.parametrize("name", ["leduc", "flop"])
def test_the_blueprint_is_worth_what_the_whole_game_says(name: str) -> None:
    play, menu = blueprint(name, 3)
    check(play, menu, (BLUEPRINT, BLUEPRINT), play.solver)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "flop"])
def test_a_recorded_response_is_worth_what_playing_it_out_says(name: str, player: int) -> None:
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
    check(play, menu, (BLUEPRINT, biased_play(tree, kind, 10.0)), full)


def test_games_without_a_second_round_are_refused() -> None:
    with pytest.raises(PokernetsError, match="two rounds"):
        LeafPlay(VectorSolver(VectorGame(build_tree(Betting.start(kuhn())))))
