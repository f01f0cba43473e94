"""Realization plans: probabilities of a player's action sequences; their sums are plans of mixed strategies."""

from collections.abc import Callable, Sequence

import numpy as np

from poker.kernels.types import Reals, Singles
from poker.kernels.vector.boards import put_rows
from poker.solvers.best_response.ranges import RangePolicy
from poker.solvers.vector.game import VectorGame
from poker.tree import Kind

Rows = Singles
"""float32[entries] in the layout of a game: weights of actions, of which the strategy is the share of each."""

Strategy = Callable[[int, int], Reals]
"""(node, board of the game by its index) -> [A, hands of the board's list] probabilities of the actions, or less."""


Taken = Callable[[int, Sequence[int], Rows], Reals]
"""(node, B boards, weights [B, H] of the hands there) -> [B, H, A] weights of the actions."""

_TOGETHER = 64
"""Boards that are walked side by side."""


def realization(game: VectorGame, player: int, strategy: Strategy, reach: Rows | None = None) -> Rows:
    """[entries] in the layout of the game: with what probability `player` takes each own action, all earlier ones
    included, from weights `reach` [H] at the root (None: 1)."""

    def taken(node: int, boards: Sequence[int], weights: Rows) -> Reals:
        out = np.zeros((*weights.shape, int(game.tree.num_children[node])))
        for rows, board, held in zip(out, boards, weights, strict=True):
            hands = game.hands(player, board)
            rows[hands] = (strategy(node, board) * held[hands]).T
        return out

    return played(game, player, taken, np.ones(game.rules.num_hands, np.float32) if reach is None else reach)


def played(game: VectorGame, player: int, taken: Taken, reach: Rows) -> Rows:
    """[entries] the weights of all own actions of `player`, from `reach` [H] at the root."""
    tree, lists, out = game.tree, game.boards.boards, np.zeros(game.num_entries, np.float32)
    kinds, movers, below = tree.kind.tolist(), tree.player.tolist(), lists.child_start.tolist()

    def walk(node: int, boards: range, reach: Rows) -> None:
        if kinds[node] == Kind.STREET.value:
            if game.layout.position[tree.first_child[node]] >= 0:
                dealt = np.repeat(reach, np.diff(below[boards.start : boards.stop + 1]), axis=0)
                for start in range(0, len(dealt), _TOGETHER):
                    group = range(below[boards.start], below[boards.stop])[start : start + _TOGETHER]
                    walk(int(tree.first_child[node]), group, dealt[start : start + _TOGETHER])
            return
        if movers[node] != player:
            for child in tree.children(node):
                walk(child, boards, reach)
            return
        weights = np.ascontiguousarray(taken(node, boards, reach), np.float64)
        going = np.zeros((weights.shape[2], *reach.shape), np.float32)
        here, entry = slice(boards.start, boards.stop), int(game.layout.nodes.entry[game.layout.position[node]])
        padded = lists.padded[player, here]
        starts, sizes = lists.list_start[player, here], lists.size[player, here]
        at = lists.block[player, here] + entry * padded
        put_rows(out, at, padded, game.boards.lists.hand, starts, sizes, weights, going)
        for child, rows in zip(tree.children(node), going, strict=True):
            walk(child, boards, rows)

    walk(0, range(1), reach[None])
    return out


def strategy_of(game: VectorGame, rows: Rows) -> Strategy:
    """The strategy of `rows` [entries]."""
    return lambda node, board: shares(game.rows(rows, node, board))


def policy_of(game: VectorGame, rows: Rows) -> RangePolicy:
    """The strategy of `rows` by tree node and board, any of the class that the game merges."""

    return lambda node, board: game.by_hand(node, board, lambda index: shares(game.rows(rows, node, index)))


def shares(rows: Rows) -> Rows:
    """[A, hands] weights that add up to 1 for each hand; uniform where there are none."""
    mass = rows.sum(axis=0)
    return np.asarray(np.where(mass > 0, rows / np.where(mass > 0, mass, 1), np.float32(1 / len(rows))))
