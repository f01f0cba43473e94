"""The learned abstract best response: how much a blueprint loses to its own bets and buckets.

For either seat boards are drawn at random. On each board the whole game is swept with all hands of both players at once
(`poker.kernels.sampling.responses`), while the other seat plays the fixed blueprint. Only the board is sampled. Early
boards have less weight (linear weighting).

Regrets start from the blueprint's own strategy times `trust` pots for each hand that a board has in a bucket, and that
part is never discounted. The response therefore leaves the blueprint only for gains above that amount, because the
hands of one bucket share the luck of a board.

If the abstract game has perfect recall, this converges to its exact best response. Buckets with imperfect recall give
no such guarantee. The exact value cannot be computed from transition probabilities between buckets either, because both
players' later buckets depend on the same board. We therefore claim nothing from the abstract game. The response is a
policy of the real game, and its winnings in matches there are a lower bound on the best response.

The game is cut where the first street ends, and the pieces of the tree below are processed one after the other.

H is the number of hands, B of buckets, A of actions, S of streets and W of columns for the ends of a piece.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import hand_ranks
from poker.kernels.sampling.continuation import end_reaches
from poker.kernels.sampling.responses import end_values, respond
from poker.kernels.simd import LANES
from poker.kernels.types import Board, Singles
from poker.solvers.blueprint import Blueprint
from poker.solvers.sampling.base import normalised
from poker.solvers.subtree import Subtree, subtree
from poker.tree import Kind

TRUST = 50.0
_PERIODS = 20
"""Periods of a run; the regrets of period k = 1, 2, ... have final weight proportional to k."""
_NO_BIAS = np.ones((3, 1), np.float32)
_CARDS = 64


def learn_seat(blueprint: Blueprint, player: int, boards: int, seed: int, trust: float = TRUST) -> dict[int, Singles]:
    """Learn a response to a blueprint.

    Args:
        blueprint: the strategy of the other seat, and the start of the response.
        player: the seat that responds.
        boards: number of random boards.
        seed: seed of the boards.
        trust: pots of regret per hand that the blueprint's strategy starts with.

    Returns:
        Strategy float32 [B, A] of every decision of `player`, by betting node.
    """
    tree, sampling, game = blueprint.tree, blueprint.sampling, BoardGame(blueprint, player)
    hands = blueprint.rules.space.live(range(blueprint.rules.total_board_cards)).sum()
    pots = trust * hands / np.array(blueprint.cards.num_buckets)
    start = game.table(lambda node: np.float32(pots[tree.street[node]] * tree.pot(node)) * blueprint.probs(node))
    table = start.copy()
    period = max(1, boards // _PERIODS)
    rng = np.random.default_rng(np.random.SeedSequence([seed, player]))
    for done, board in enumerate(sample_boards(blueprint.rules, (), boards, rng), 1):
        game.play(table, board, learn=True)
        if done % period == 0:
            weight = np.float32((done // period) / (done // period + 1))
            table += (1 - weight) * (start - table)
    strategies = {}
    for node in game.decisions.tolist():
        regrets = sampling.entries(table, int(sampling.index[node]))
        strategies[node] = normalised(np.maximum(regrets, 0.0), np.eye(regrets.shape[1])[regrets.argmax(axis=1)])
    return strategies


class BoardGame:
    """The game of one seat against a fixed opponent, board by board.

    A table has one float32 per action of the seat, placed as in a strategy of `Blueprint`.

    Attributes:
        decisions: [D] betting nodes of the seat.
    """

    def __init__(self, opponent: Blueprint, seat: int) -> None:
        """Cut the tree into pieces.

        Args:
            opponent: the fixed strategy.
            seat: the seat that responds.
        """
        tree, origin, space = opponent.tree, opponent.sampling.origin(), opponent.rules.space
        self.decisions = np.flatnonzero((tree.kind == Kind.DECISION) & (tree.player == seat))
        """[D] betting nodes of the seat."""
        self._opponent, self._seat = opponent, seat
        self._first = _Piece(subtree(opponent, 0, last_street=0), seat)
        self._later = [_Piece(subtree(opponent, int(origin[link])), seat) for link in self._first.tree.links]
        widest = max((piece.width for piece in self._later), default=0)
        hands = len(space.masks)
        self._scratch = np.zeros((2, hands * widest), np.float32)
        self._work = np.empty(LANES * (2 * hands + _CARDS), np.float32)

    def table(self, strategy: Callable[[int], Singles]) -> Singles:
        """Create a table from a strategy.

        Args:
            strategy: function from a betting node to its values [B, A], called at the seat's decisions.

        Returns:
            float32 [entries].
        """
        sampling = self._opponent.sampling
        table = np.zeros(sampling.table_size // 2, np.float32)
        for node in self.decisions.tolist():
            sampling.entries(table, int(sampling.index[node]))[:] = strategy(node)
        return table

    def play(self, table: Singles, board: Board, learn: bool = False) -> float:
        """Play regret matching with a table on one board.

        Args:
            table: float32 [entries] regrets; a strategy is played as it is.
            board: all board cards of the game.
            learn: add the regrets of every hand to the table.

        Returns:
            Chips per hand of the seat, averaged over all pairs of hands.
        """
        deal, first = _Deal(self._opponent, board), self._first
        reach, values = np.zeros((2, len(deal.rank), first.width), np.float32)
        even = np.full(len(deal.rank), np.float32(1 / deal.pairs))
        self._reach(first, deal, reach)
        for column, piece in enumerate(self._later, first.links):
            size = len(deal.rank) * piece.width
            below, won = (scratch[:size].reshape(-1, piece.width) for scratch in self._scratch)
            self._reach(piece, deal, below)
            values[:, column] = self._value(piece, deal, table, below, reach[:, column] * even, won, learn)
        total = self._value(first, deal, table, reach, even, values, learn)
        return float(total[deal.order].mean(dtype=np.float64))

    def _reach(self, piece: "_Piece", deal: "_Deal", out: Singles) -> None:
        """Write the opponent's reach, from the root of the piece on, to `out`."""
        tree, reach = piece.tree, np.zeros((1, piece.width, len(deal.rank)), np.float32)
        end_reaches(
            tree.player, tree.street, tree.first, tree.arity, tree.row, tree.stride, piece.column, tree.action_class,
            np.ones(piece.width, np.float32), self._opponent.strategy, _NO_BIAS, 1 - self._seat, deal.buckets, reach,
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
        """Return [H] values of each hand at the root of the piece, where the opponent's hands have these weights."""
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
    """A betting subtree with its ends in columns: folds, showdowns, links; each group begins at a whole vector."""

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


class _Deal:
    """A complete board with the buckets, ranks and order of hands on it.

    `pairs` counts the opponent's hands for each of the player's.
    """

    def __init__(self, blueprint: Blueprint, board: Board) -> None:
        rules, cards = blueprint.rules, blueprint.cards
        live = rules.space.live(board)
        self.buckets = np.stack([cards.buckets(board[:size]) for size in rules.board_sizes]).astype(np.int32)
        self.buckets[:, ~live] = -1
        self.rank = hand_ranks(rules, board).astype(np.int32)
        order = np.argsort(self.rank, kind="stable").astype(np.int32)
        self.order = np.ascontiguousarray(order[live[order]])
        self.cards = rules.space.hand_cards
        self.pairs = comb(rules.deck_size - len(board) - rules.num_hole_cards, rules.num_hole_cards)


def _padded(count: int) -> int:
    return -(-count // LANES) * LANES
