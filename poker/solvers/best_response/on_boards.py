"""Responses to a fixed opponent, in a blueprint's own bets and buckets, on complete boards: all hands of both players
at once (`poker.kernels.sampling.responses`), so that the boards are all that is sampled.

The game is cut where the first street ends: what lies below takes one piece of the tree after the other.

Symbols: H hands, B buckets, A actions, S streets, R boards, W columns for the ends of a piece.
"""

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import hand_ranks
from poker.kernels.sampling.continuation import BLOCK, end_reaches
from poker.kernels.sampling.responses import end_values, respond
from poker.kernels.simd import LANES
from poker.solvers.blueprint import Blueprint
from poker.solvers.rollout.continuation import Subtree, subtree
from poker.tree import Kind
from poker.types import Board, Singles

_NO_BIAS = np.ones((3, 1), np.float32)
_CARDS = 64


class BoardGame:
    """Game of `seat` against the fixed `opponent` in the other seat. A table has one float32 per action of `seat`,
    placed as in a strategy of `Blueprint`."""

    def __init__(self, opponent: Blueprint, seat: int) -> None:
        tree, origin, space = opponent.tree, opponent.sampling.origin(), opponent.rules.space
        self.decisions = np.flatnonzero((tree.kind == Kind.DECISION) & (tree.player == seat))
        """Betting nodes of the seat."""
        self._opponent, self._seat = opponent, seat
        self._first = _Piece(subtree(opponent, 0, last_street=0), seat)
        links = self._first.tree.links
        self._later = [_Piece(subtree(opponent, int(origin[link])), seat) for link in links]
        widest = max((piece.width for piece in self._later), default=0)
        hands = len(space.masks)
        self._scratch = np.zeros((2, hands * widest), np.float32)
        self._work = np.empty(LANES * (2 * hands + _CARDS), np.float32)

    def table(self, strategy: Callable[[int], NDArray[np.float32]]) -> Singles:
        """Table of strategy(betting node) -> [B, A] at the seat's decisions."""
        sampling = self._opponent.sampling
        found = np.zeros(sampling.table_size // 2, np.float32)
        for node in self.decisions.tolist():
            sampling.entries(found, int(sampling.index[node]))[:] = strategy(node)
        return found

    def play(self, table: Singles, board: Board, learn: bool = False) -> float:
        """Chips per hand on a complete board, over all pairs of hands, of regret matching on `table` (a strategy there
        is played as it is); with `learn` the regrets of every hand are added to it."""
        deal = _Deal(self._opponent, board)
        first = self._first
        reach, values = np.zeros((2, len(deal.rank), first.width), np.float32)
        each = np.full(len(deal.rank), np.float32(1 / deal.pairs))
        self._reach(first, deal, reach)
        for n, piece in enumerate(self._later):
            column = first.links + n
            values[:, column] = self._below(piece, deal, table, reach[:, column] * each, learn)
        won = self._value(first, deal, table, reach, each, values, learn)
        return float(won[deal.order].mean(dtype=np.float64))

    def _below(self, piece: "_Piece", deal: "_Deal", table: Singles, weight: Singles, learn: bool) -> Singles:
        shape = (len(deal.rank), piece.width)
        reach, values = (scratch[: shape[0] * shape[1]].reshape(shape) for scratch in self._scratch)
        self._reach(piece, deal, reach)
        return self._value(piece, deal, table, reach, weight, values, learn)

    def _reach(self, piece: "_Piece", deal: "_Deal", out: Singles) -> None:
        """Write the opponent's reach, from the root of the piece on, to `out`."""
        tree, reach = piece.tree, np.zeros((1, piece.width, len(deal.rank)), np.float32)
        end_reaches(
            tree.player, tree.street, tree.first, tree.arity, tree.row, tree.stride, piece.column, tree.action_class,
            self._opponent.strategy, _NO_BIAS, 1 - self._seat, deal.buckets, piece.reach, reach,
        )  # fmt: skip
        out[:] = reach[0].T

    def _value(
        self,
        piece: "_Piece",
        deal: "_Deal",
        table: Singles,
        reach: Singles,
        weight: Singles,
        values: Singles,
        learn: bool,
    ) -> Singles:
        """[H] what each hand wins at the root of the piece, where the opponent's hands have this weight."""
        tree, out = piece.tree, np.zeros(len(deal.rank), np.float32)
        end_values(
            reach, weight, deal.order, deal.rank, deal.cards, piece.pay, piece.folds, piece.links, values, self._work
        )
        respond(
            tree.player, tree.street, tree.first, tree.arity, tree.row, tree.stride, piece.column, table, self._seat,
            deal.buckets, deal.order, values, learn, out,
        )  # fmt: skip
        return out


class _Piece:
    """A betting subtree with its ends in columns: folds, showdowns from a whole vector on, then links."""

    def __init__(self, tree: Subtree, seat: int) -> None:
        self.tree = tree
        folds, shows = len(tree.fold_value), len(tree.stake)
        self.folds = _padded(folds)
        self.links = self.folds + _padded(shows)
        """Column of the first link."""
        self.width = self.links + _padded(len(tree.links))
        moved = np.repeat([0, self.folds - folds, self.links - folds - shows], [folds, shows, len(tree.links)])
        self.column = np.where(tree.end >= 0, tree.end + np.append(moved, 0)[tree.end], -1).astype(np.int32)
        self.pay = np.zeros(self.width, np.float32)
        self.pay[:folds] = tree.fold_value if seat == 0 else -tree.fold_value
        self.pay[self.folds : self.folds + shows] = tree.stake
        self.reach = np.empty((len(tree.player), 1, BLOCK), np.float32)


class _Deal:
    """A complete board, with the buckets, ranks and order of hands on it."""

    def __init__(self, blueprint: Blueprint, board: Board) -> None:
        rules, cards = blueprint.rules, blueprint.cards
        self.buckets = np.stack([cards.buckets(board[:size]) for size in rules.board_sizes]).astype(np.int32)
        self.rank = hand_ranks(rules, board).astype(np.int32)
        live = rules.space.live(board)
        self.buckets[:, ~live] = -1
        order = np.argsort(self.rank, kind="stable").astype(np.int32)
        self.order = np.ascontiguousarray(order[live[order]])
        self.cards = rules.space.hand_cards
        left = rules.deck_size - len(board) - rules.num_hole_cards
        self.pairs = comb(left, rules.num_hole_cards)
        """Hands of the opponent for each of the player's."""


def _padded(count: int) -> int:
    return -(-count // LANES) * LANES
