"""Leaves valued by the ranges that reach them: with an oracle at the leaves a depth-limited solve is the full one."""

import numpy as np
import pytest

from poker.abstraction.equities import check_down_chances
from poker.game.cards import HOLDEM, NUM_HANDS, parse_cards
from poker.game.rules import Rules
from poker.kernels.types import Board, Singles
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import AskedLeaves
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, DepthLimit, bet_menu, build_tree
from poker.tree.spots import spot_root
from tests.solvers.completed import completed

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


def river_values(rules: Rules, pot: int, behind: int, reaching: Singles) -> Singles:
    """[2, H] zero-sum chips of each hand before the river: the mean over all rivers of solves to the end."""
    chips, mass = np.zeros((2, 2, NUM_HANDS))
    for card in (card for card in range(52) if card not in BOARD):
        board = (*BOARD, card)
        held = np.where(HOLDEM.live(board), np.maximum(reaching, 1e-6 * reaching.max() * (ranges() > 0)), 0)
        met = np.stack([HOLDEM.compatible_mass(held[1 - player].astype(np.float64)) for player in range(2)])
        met *= HOLDEM.live(board)
        if behind:
            game = VectorGame(build_tree(spot_root(5, behind), MENU, dead=pot), board, held)
            solver = VectorSolver(game)
            solver.advance(60)
            values = np.stack([solver.values(player) for player in range(2)]) - pot / 2
        else:
            chances = [check_down_chances(rules, board, row.astype(np.float64)) for row in held[::-1]]
            values = pot * (np.stack(chances) - 0.5)
        chips += met * values
        mass += met
    return np.where(mass > 0, chips / np.maximum(mass, 1e-9), 0).astype(np.float32)


def oracle(limited: BettingTree, every: int) -> AskedLeaves:
    committed = limited.committed[limited.leaves].min(axis=1).tolist()

    def ask(reaching: Singles) -> Singles:
        return np.stack(
            [
                river_values(limited.rules, POT + 2 * chips, STACK - chips, held)
                for chips, held in zip(committed, reaching, strict=True)
            ]
        )

    return AskedLeaves(len(committed), ask, every)


@pytest.mark.slow
def test_with_an_oracle_at_the_leaves_a_solve_of_the_turn_is_that_of_the_whole_hand() -> None:
    limited = tree(DepthLimit(2, 1, ()))
    solver = VectorSolver(VectorGame(limited, BOARD, ranges(), oracle(limited, 2)))
    solver.advance(40)
    game = VectorGame(tree(None), BOARD, ranges(), isomorphism=False)
    whole = VectorSolver(game)
    whole.advance(300)
    assert completed(solver, game, 300).exploitability() < 0.006 * POT
    solver.ask_leaves(average=True)
    assert solver.game_value() == pytest.approx(whole.game_value(), abs=0.01 * POT)
