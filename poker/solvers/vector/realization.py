"""How likely a player's own actions make what follows them: rows that add up to mixtures of whole strategies."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from poker.solvers.best_response.ranges import RangePolicy
from poker.solvers.vector.game import VectorGame
from poker.tree import Kind

Rows = NDArray[np.float32]
"""float32[entries] in the layout of a game: weights of actions, of which the strategy is the share of each."""

Strategy = Callable[[int, int], NDArray[np.floating]]
"""(node, board of the game by its index) -> [A, hands of the board's list] probabilities of the actions, or less."""


Taken = Callable[[int, int, Rows], NDArray[np.floating]]
"""(node, board, weights [H] of the hands there) -> [A, hands of the board's list] weights of the actions."""


def realization(game: VectorGame, player: int, strategy: Strategy, reach: Rows | None = None) -> Rows:
    """[entries] in the layout of the game: with what probability `player` takes each own action, all earlier ones
    included, from weights `reach` [H] at the root (None: 1)."""
    start = np.ones(game.rules.num_hands, np.float32) if reach is None else reach
    taken = lambda node, board, weights: strategy(node, board) * weights[game.hands(player, board)]  # noqa: E731
    return played(game, player, taken, start)


def played(game: VectorGame, player: int, taken: Taken, reach: Rows) -> Rows:
    """[entries] the weights of all own actions of `player`, from `reach` [H] at the root."""
    tree, out = game.tree, np.zeros(game.num_entries, np.float32)

    def walk(node: int, board: int, reach: Rows) -> None:
        if tree.kind[node] == Kind.STREET:
            if game.layout.position[tree.first_child[node]] >= 0:
                children = game.boards.boards.child_start
                for below in range(children[board], children[board + 1]):
                    walk(int(tree.first_child[node]), below, reach)
            return
        if tree.player[node] != player:
            for child in tree.children(node):
                walk(child, board, reach)
            return
        hands = game.hands(player, board)
        own = game.rows(out, node, board)
        own[:] = taken(node, board, reach)
        for child, weights in zip(tree.children(node), own, strict=True):
            going = np.zeros_like(reach)
            going[hands] = weights
            walk(child, board, going)

    walk(0, 0, reach)
    return out


def strategy_of(game: VectorGame, rows: Rows) -> Strategy:
    """The strategy of `rows` [entries]."""
    return lambda node, board: shares(game.rows(rows, node, board))


def policy_of(game: VectorGame, rows: Rows) -> RangePolicy:
    """The same by tree node and board, any of the class that the game merges."""

    def policy(node: int, board: tuple[int, ...]) -> Rows:
        index, permutation = game.find_board(int(game.tree.street[node]), board)
        return game.by_hand(node, index, permutation, shares(game.rows(rows, node, index)).T)

    return policy


def shares(rows: Rows) -> Rows:
    """[A, hands] weights that add up to 1 for each hand; alike where there are none."""
    mass = rows.sum(axis=0)
    weights: Rows = np.where(mass > 0, rows / np.where(mass > 0, mass, 1), np.float32(1 / len(rows)))
    return weights
