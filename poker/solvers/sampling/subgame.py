"""Linear MCCFR of a subgame with more than two players, for all hands of all players who are left.

The first street distinguishes single hands. Later streets of the tree, if any, use the buckets of `cards`. Where the
tree ends before the hand, a blueprint is rolled out (`poker.kernels.sampling.subgames`).

N is the number of nodes, P of players, H of hands, C of columns of a table and L of leaves.
"""

import time
from collections.abc import Mapping, Sequence

import numpy as np

from poker.abstraction.buckets import Buckets
from poker.abstraction.equities import hand_ranks
from poker.game.betting import Betting
from poker.game.cards import card_mask
from poker.game.rules import NO_ACTION
from poker.kernels.rng import streams
from poker.kernels.sampling import nodes as kernel
from poker.kernels.sampling import subgames
from poker.kernels.types import I32, I64, Board, Records, Singles
from poker.solvers.blueprint import CONTINUATIONS, Blueprint, action_classes, bias_of
from poker.solvers.sampling.base import normalised
from poker.tree import BettingTree, Kind
from poker.tree.translation import HistoryTranslator

_DEALS = 32
"""Deals per step on a complete board; with cards to come each step has one deal on its own board."""
_AVERAGED_EVERY = 4
"""Traversals of a player between two updates of its average strategy."""
_HEAD_START = 1000
"""Weight of the initial strategy, in iterations with the pot as regret."""


class RolledOut:
    """A blueprint that values the ends of rounds, where each remaining player picks a continuation."""

    def __init__(
        self,
        blueprint: Blueprint,
        translator: HistoryTranslator,
        factor: float,
        continuations: Sequence[str] = CONTINUATIONS,
    ) -> None:
        """Prepare rollouts.

        Args:
            blueprint: the strategy to roll out.
            translator: maps betting states to nodes of the blueprint's tree.
            factor: multiplier of the favoured class of action of a biased continuation.
            continuations: names of the continuations.

        Raises:
            PokernetsError: there is no such continuation.
        """
        tree, sampling = blueprint.tree, blueprint.sampling
        classes = np.zeros(len(sampling.nodes), np.int8)
        acted = np.flatnonzero(tree.action != NO_ACTION)
        classes[sampling.index[acted]] = action_classes(tree.action[acted])
        strategy = blueprint.strategy.view()
        strategy.setflags(write=False)
        bias = np.array([bias_of(kind, factor) for kind in continuations], np.float32).T.copy()
        buckets = np.array(sampling.num_buckets, np.int32)
        self.kernel = subgames.Rollout(sampling.arrays, strategy, classes, bias, buckets)
        self.rules, self.cards = blueprint.rules, blueprint.cards
        self._tree, self._sampling, self._translator = tree, sampling, translator

    def ends(self, states: Sequence[Betting], rows: I32) -> subgames.Ends:
        """Describe leaves for the kernel.

        Args:
            states: L betting states at the leaves.
            rows: int32 [L, P] table rows of each player's choice of a continuation.

        Returns:
            Arrays [L] and [L, P] that the kernel reads.
        """
        players = rows.shape[1]
        node, base, absent = np.full(len(states), -1, np.int32), np.zeros_like(rows), np.zeros(rows.shape, np.bool_)
        scale = np.ones(len(states))
        committed = np.array([state.committed for state in states], np.int32).reshape(-1, players)
        folded = np.array([state.folded for state in states], np.bool_).reshape(-1, players)
        for leaf, state in enumerate(states):
            below = self._translator.node(state)
            if below is not None:
                node[leaf], base[leaf] = self._sampling.index[below], self._tree.committed[below]
                absent[leaf] = self._tree.folded[below] & ~folded[leaf]
                scale[leaf] = state.pot / self._tree.pot(below)
        return subgames.Ends(node, rows, committed, folded, base, absent, scale)


class SubgameSolver:
    """A solver of one subgame.

    Regrets are weighted by the number of the iteration and strategies by its square. The result depends only on the
    arguments and the seed, unless a time limit ends the run.
    """

    def __init__(
        self,
        tree: BettingTree,
        board: Board,
        ranges: Singles,
        seed: int,
        *,
        start: Mapping[int, Singles] | None = None,
        cards: Buckets | None = None,
        leaves: Sequence[Betting] = (),
        rolled_out: RolledOut | None = None,
    ) -> None:
        """Prepare the solver.

        Args:
            board: [B] cards on the board at its root.
            ranges: [P, H] ranges at the root; 0 for players who have folded.
            seed: seed of the random numbers.
            start: initial strategy [H, A] by decision of the first street; None for uniform.
            cards: buckets of later streets.
            leaves: L betting states at the leaves.
            rolled_out: the blueprint that values the leaves.
        """
        rules = tree.rules
        self.tree, self._board, self._rules = tree, board, rules
        self._cards = rolled_out.cards if rolled_out is not None else cards
        live = rules.space.live(board)
        self._prior = np.where(live, ranges, np.float32(0.0)).astype(np.float32)
        self._street = int(tree.street[0])
        self._masks = rules.space.masks.astype(np.int64)
        self._chances = np.cumsum(self._prior, axis=1, dtype=np.float64)
        self._players = np.flatnonzero(self._chances[:, -1] > 0.0)
        nodes, rows, ends = _packed(tree)
        choices, size = np.zeros((tree.num_leaf_states, rules.num_players), np.int32), rows
        if rolled_out is not None:
            forms = rolled_out.kernel.bias.shape[1]
            choices += rows + forms * np.arange(choices.size, dtype=np.int32).reshape(choices.shape)
            size += forms * choices.size
            self._rollout = rolled_out.kernel
            at_leaves = rolled_out.ends(leaves, choices)
        else:
            assert not tree.num_leaf_states
            self._rollout, at_leaves = _NO_ROLLOUT, _no_ends(rules.num_players)
        self._game = subgames.Subgame(
            nodes, tree.committed[ends], tree.folded[ends], np.array(rules.stacks, np.int32), at_leaves
        )
        columns = rules.num_hands
        if self._cards is not None:
            columns = max(columns, *self._cards.num_buckets[self._street + 1 :], 0)
        self._table, self._averages = np.zeros((size, columns), np.float32), np.zeros((rows, columns), np.float32)
        self._reach = np.zeros((len(nodes), rules.num_hands), np.float32)
        arity, forms = int(nodes["arity"].max()), self._rollout.bias.shape[1]
        buckets = int(self._rollout.buckets.max(initial=1))
        self._work = subgames.new_scratch(rules.num_hands, rules.num_streets, arity, forms, buckets)
        self._rng = streams(seed, 1)[0]
        self._complete_board = self._infosets(board) if len(board) == rules.total_board_cards else None
        self._iterations = 0 if start is None else _HEAD_START
        for node, probs in (start or {}).items():
            weighted = probs.T * self._prior[int(tree.player[node])]
            self._rows(self._table, node)[:] = weighted * np.float32(tree.pot(0) * _HEAD_START**2 / 2)
            self._rows(self._averages, node)[:] = weighted * np.float32(_HEAD_START**3 / 3)

    def run(self, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run for a number of further iterations or for some time.

        An iteration has one traversal per player.

        Args:
            iterations: number of further iterations; None for no limit.
            seconds: seconds from now; None for no limit.
        """
        started, new_iterations = time.perf_counter(), 0
        while (iterations is None or new_iterations < iterations) and (
            seconds is None or not new_iterations or time.perf_counter() - started < seconds
        ):
            deals = 1 if self._complete_board is None else _DEALS
            averaged = max(deals, _AVERAGED_EVERY)
            for player in self._players:
                self._play(int(player), deals, averaged if new_iterations % averaged == 0 else 0)
            new_iterations += deals
            self._iterations += deals

    def strategy(self, node: int) -> Singles:
        """Return the average strategy at a decision.

        Args:
            node: a decision node.

        Returns:
            float32 [H, A] on the first street, [C, A] by bucket on later ones.
        """
        return normalised(self._rows(self._averages, node).T, np.maximum(self._rows(self._table, node).T, 0.0))

    def _rows(self, table: Singles, node: int) -> Singles:
        """Return the part [A, H] of a table for a decision, [A, C] after the first street."""
        start, arity = int(self._game.nodes["row"][node]), int(self._game.nodes["arity"][node])
        columns = self._rules.num_hands if self.tree.street[node] == self._street else None
        return table[start : start + arity, :columns]

    def _play(self, player: int, deals: int, averaged: int) -> None:
        """Play a traversal per deal; the strategy then counts `averaged` times in the average."""
        deal, weight = self._draw_deals(player, deals), float(self._iterations + 1)
        self._traverse(self._table, deal, weight)
        if averaged:
            arguments = self._prior[player], averaged * weight**2, self._reach
            subgames.accumulate(self._game, self._table, self._averages, player, deal.infosets, *arguments)

    def _draw_deals(self, player: int, deals: int) -> subgames.Deal:
        """Deal hands to all players but `player`, on one board."""
        rules, own = self._rules, np.full(deals, player, np.int32)
        held = np.empty((deals, rules.num_players), np.int32)
        boards = np.empty((deals, rules.total_board_cards - len(self._board)), np.uint8)
        board = card_mask(self._board)
        subgames.draw_deals(self._chances, self._masks, board, rules.deck_size, own, held, boards, self._rng)
        return subgames.Deal(held, own, *(self._complete_board or self._infosets((*self._board, *boards[0].tolist()))))

    def _traverse(self, table: Singles, deal: subgames.Deal, weight: float) -> int:
        game, prior = (self._game, self._rollout, table, deal), self._prior
        return int(subgames.traverse(*game, prior, self._masks, weight, self._rng, self._work))

    def _infosets(self, board: Board) -> tuple[I32, I32]:
        """Return columns [S, H] of all hands on each street of a complete board, and showdown ranks [H]."""
        rules = self._rules
        ranks = hand_ranks(rules, board).astype(np.int32)
        infosets = np.repeat(
            np.where(rules.space.live(board), np.arange(rules.num_hands, dtype=np.int32), -1)[None],
            rules.num_streets,
            axis=0,
        )
        for street in range(self._street + 1, rules.num_streets):
            if self._cards is not None:
                infosets[street] = self._cards.buckets(board[: rules.board_sizes[street]])
        return infosets.astype(np.int32), ranks


def _packed(tree: BettingTree) -> tuple[Records, int, I64]:
    """Return nodes in the form that kernels read, the number of table rows, and the nodes that end the hand."""
    nodes = np.zeros(len(tree), kernel.NODE)
    decision, leaf = tree.kind == Kind.DECISION, tree.kind == Kind.LEAF
    nodes["kind"] = np.where(decision, kernel.DECISION, np.where(leaf, subgames.LEAF, kernel.MULTIWAY))
    nodes["player"], nodes["street"] = tree.player, tree.street
    nodes["arity"] = np.where(decision, tree.num_children, 0)
    nodes["first"] = tree.first_child
    rows = np.cumsum(nodes["arity"], dtype=np.int64)
    ends = np.flatnonzero((tree.kind == Kind.FOLD) | (tree.kind == Kind.SHOWDOWN))
    numbers = np.zeros(len(tree), np.int64)
    numbers[ends] = np.arange(len(ends))
    nodes["row"] = np.where(decision, rows - nodes["arity"], np.where(leaf, tree.leaf_state, numbers))
    deals = np.flatnonzero(tree.kind == Kind.STREET)
    for node in deals[::-1]:  # copies the node after the deal, which is not visited itself
        nodes[node] = nodes[tree.first_child[node]]
    nodes["kind"][tree.first_child[deals]] = kernel.MULTIWAY
    return nodes, int(rows[-1]), ends


def _no_ends(players: int) -> subgames.Ends:
    numbers, flags = np.zeros((0, players), np.int32), np.zeros((0, players), np.bool_)
    return subgames.Ends(np.zeros(0, np.int32), numbers, numbers, flags, numbers, flags, np.zeros(0))


_NO_ROLLOUT = subgames.Rollout(
    kernel.Tree(
        *(
            np.zeros(shape, dtype)
            for shape, dtype in ((0, kernel.NODE), ((0, 0), np.int32), ((0, 0), np.int32), ((0, 0), np.bool_))
        )
    ),
    np.zeros(0, np.uint8),
    np.zeros(0, np.int8),
    np.zeros((3, 1), np.float32),
    np.zeros(0, np.int32),
)
_NO_ROLLOUT.strategy.setflags(write=False)
