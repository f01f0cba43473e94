"""Realization plans: probabilities of a player's action sequences; their sums are plans of mixed strategies."""

from collections.abc import Callable, Sequence

import numpy as np

from poker.kernels.types import Reals, Singles
from poker.kernels.vector.boards import put_rows
from poker.solvers.vector.game import VectorGame
from poker.tree import Kind

Rows = Singles
"""float32 [entries] action weights in the layout of a game; normalised over actions they are a strategy."""

Strategy = Callable[[int, int], Reals]
"""Function from node and board index to probabilities [A, n] of the actions over the board's list; may sum to less."""


Taken = Callable[[int, Sequence[int], Rows], Reals]
"""Function from node, B boards and weights [B, H] of the hands there to weights [B, H, A] of the actions."""

_BOARDS_AT_ONCE = 64
"""Number of boards processed together."""


def realization(game: VectorGame, player: int, strategy: Strategy, reach: Rows | None = None) -> Rows:
    """Compute the probability with which a player takes each own action, all earlier own actions included.

    Args:
        strategy: the player's strategy.
        reach: float32 [H] weights at the root; None for 1.

    Returns:
        float32 [entries] in the layout of the game.
    """

    def taken(node: int, boards: Sequence[int], weights: Rows) -> Reals:
        out = np.zeros((*weights.shape, int(game.tree.num_children[node])))
        for rows, board, held in zip(out, boards, weights, strict=True):
            hands = game.hands(player, board)
            rows[hands] = (strategy(node, board) * held[hands]).T
        return out

    return played(game, player, taken, np.ones(game.rules.num_hands, np.float32) if reach is None else reach)


def played(game: VectorGame, player: int, taken: Taken, reach: Rows) -> Rows:
    """Compute the weights of all own actions of a player.

    Args:
        taken: function from a node, boards and weights [B, H] to the weights [B, H, A] of the actions.
        reach: float32 [H] weights at the root.

    Returns:
        float32 [entries] in the layout of the game.
    """
    tree, lists, out = game.tree, game.boards.boards, np.zeros(game.num_entries, np.float32)
    kinds, movers, below = tree.kind.tolist(), tree.player.tolist(), lists.child_start.tolist()

    def walk(node: int, boards: range, reach: Rows) -> None:
        if kinds[node] == Kind.STREET.value:
            if game.layout.position[tree.first_child[node]] >= 0:
                dealt = np.repeat(reach, np.diff(below[boards.start : boards.stop + 1]), axis=0)
                for start in range(0, len(dealt), _BOARDS_AT_ONCE):
                    group = range(below[boards.start], below[boards.stop])[start : start + _BOARDS_AT_ONCE]
                    walk(int(tree.first_child[node]), group, dealt[start : start + _BOARDS_AT_ONCE])
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
    """Return the strategy of action weights `rows` [entries], by node and board index."""
    return lambda node, board: shares(game.rows(rows, node, board))


def shares(rows: Rows) -> Rows:
    """Normalise action weights for each hand.

    Args:
        rows: float32 [A, n] weights.

    Returns:
        float32 [A, n] weights that sum to 1 for each hand; uniform where all are 0.
    """
    mass = rows.sum(axis=0)
    return np.asarray(np.where(mass > 0, rows / np.where(mass > 0, mass, 1), np.float32(1 / len(rows))))
