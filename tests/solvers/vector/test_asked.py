"""Leaves valued by the ranges that reach them: with an oracle at the leaves a depth-limited solve is the full one."""

import numpy as np
import pytest

from poker.formats.ranges import parse_range
from poker.game.cards import HOLDEM, NUM_HANDS, parse_cards
from poker.kernels.types import Board, Singles
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, DepthLimit, bet_menu, build_tree
from poker.tree.spots import spot_root
from tests.solvers.completed import completed, completed_together
from tests.solvers.oracle import river_oracle

BOARD: Board = parse_cards("AsKd8c7h")
POT, STACK = 100, 150
MENU = bet_menu(turn=[[0.5, "a"], ["a"]], river=[[1.0, "a"], ["a"]])


def ranges() -> Singles:
    rng = np.random.default_rng(3)
    chosen = np.zeros((2, NUM_HANDS), np.float32)
    live = np.flatnonzero(HOLDEM.live(BOARD))
    for row in chosen:
        row[rng.choice(live, 60, replace=False)] = rng.random(60) + 0.1
    return chosen


def tree(limit: DepthLimit | None) -> BettingTree:
    return build_tree(spot_root(4, STACK), MENU, limit, dead=POT)


@pytest.mark.slow
def test_with_an_oracle_at_the_leaves_a_solve_of_the_turn_is_that_of_the_whole_hand() -> None:
    limited = tree(DepthLimit(2, 1, ()))
    solver = VectorSolver(VectorGame(limited, BOARD, ranges(), river_oracle(limited, MENU, BOARD, ranges(), 2, 60)))
    solver.advance(40)
    game = VectorGame(tree(None), BOARD, ranges(), isomorphism=False)
    whole = VectorSolver(game)
    whole.advance(300)
    assert completed(solver, game, 300).exploitability() < 0.003 * POT
    solver.ask_leaves(average=True)
    assert solver.game_value() == pytest.approx(whole.game_value(), abs=0.01 * POT)


@pytest.mark.slow
def test_turns_completed_for_each_player_alone_lose_what_their_own_strategies_do() -> None:
    """Completed together an exact turn loses at the rivers to which its strategies never come."""
    held = np.stack([np.where(HOLDEM.live(BOARD), parse_range(text), 0) for text in ("AA,KK,QQ", "TT,99,88")])
    game = VectorGame(tree(None), BOARD, held.astype(np.float32), isomorphism=False)
    exact = VectorSolver(game)
    exact.advance(1000)
    assert completed(exact, game, 1000).exploitability() < 0.0005 * POT
    assert completed_together(exact, game, 1000).exploitability() > 0.01 * POT
