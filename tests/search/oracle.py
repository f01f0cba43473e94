"""A leaf evaluator that plays the rest of the game exactly, for games small enough to enumerate pairs of hands.

The searcher keeps to one policy after the leaf; the opponent picks one of K policies. With the searcher's equilibrium
strategy and enough of the opponent's replies a depth-limited solve is as good as the full one ([DLS] section 4), and
`best_reply` makes the replies that matter: the best response to what the searcher plays now.

Policies are functions (node of the full tree, board) -> [H, A]. n0, n1: live hands of the two players.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from poker.depth_limit.evaluator import LeafEvaluator
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.types import Ranges
from poker.solvers.best_response.ranges import RangePolicy
from poker.solvers.vector.boards import final_ranks
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Kind

Board = tuple[int, ...]
Pairs = NDArray[np.float64]
"""float64[n0, n1]: chips of player 0 in the zero-sum game in which both own half of the dead chips."""


class PairGame:
    """Exact values of a full tree on pairs of the live hands of `ranges`."""

    def __init__(self, tree: BettingTree, board: Board, ranges: Ranges) -> None:
        self.tree = tree
        self.board = board
        self.space = tree.rules.space
        live = self.space.live(board)
        self.hands = [np.flatnonzero((ranges[player] > 0) & live) for player in range(2)]
        self.weights = [ranges[player][self.hands[player]].astype(np.float64) for player in range(2)]
        self.compatible = self.space.disjoint[np.ix_(*self.hands)].astype(np.float64)
        self._ranks: dict[Board, NDArray[np.int16]] = {}

    def live(self, player: int, board: Board) -> NDArray[np.float64]:
        """float64[n]: 1 for hands that share no card with the board."""
        return self.space.live(board)[self.hands[player]].astype(np.float64)

    def deals(self, node: int, board: Board) -> list[tuple[Board, float]]:
        """Every next board at a STREET node with its probability for a pair of hands that allows it."""
        rules: Rules = self.tree.rules
        number = rules.board_cards[self.tree.street[node] + 1]
        rest = [card for card in range(rules.deck_size) if card not in board]
        chance = 1.0 / comb(len(rest) - 2 * rules.num_hole_cards, number)
        return [(board + cards, chance) for cards in combinations(rest, number)]

    def pair_values(self, node: int, board: Board, policies: Sequence[RangePolicy]) -> Pairs:
        """Values at `node` when each player follows their policy from there."""
        tree = self.tree
        if tree.kind[node] == Kind.STREET:
            total = np.zeros(self.compatible.shape)
            for deal, chance in self.deals(node, board):
                below = self.pair_values(int(tree.first_child[node]), deal, policies)
                total += chance * np.outer(self.live(0, deal), self.live(1, deal)) * below
            return total
        if tree.num_children[node] == 0:
            return self._terminal(node, board)
        player = int(tree.player[node])
        probabilities = policies[player](node, board)[self.hands[player]].astype(np.float64)
        total = np.zeros(self.compatible.shape)
        for action, child in enumerate(tree.children(node)):
            share = probabilities[:, action]
            total += (share[:, None] if player == 0 else share[None]) * self.pair_values(child, board, policies)
        return total

    def _terminal(self, node: int, board: Board) -> Pairs:
        stake = float(self.tree.committed[node].min()) + self.tree.dead / 2
        if self.tree.kind[node] == Kind.FOLD:
            return np.full(self.compatible.shape, -stake if self.tree.folded[node, 0] else stake)
        if board not in self._ranks:
            self._ranks[board] = final_ranks(self.tree.rules, [board])[0]
        ranks = self._ranks[board].astype(np.int64)
        signs: Pairs = np.sign(ranks[self.hands[0]][:, None] - ranks[self.hands[1]][None]).astype(np.float64)
        return stake * signs

    def best_reply(self, player: int, policy: RangePolicy) -> RangePolicy:
        """A best response of `player` to the other's policy, pure, at every state of the tree."""
        table: dict[tuple[int, Board], NDArray[np.float32]] = {}
        self._reply(0, self.board, player, policy, self.weights[1 - player], table)
        number = self.tree.num_children

        def reply(node: int, board: Board) -> NDArray[np.float32]:
            uniform = np.full((self.tree.rules.num_hands, int(number[node])), 1.0 / number[node], np.float32)
            return table.get((node, board), uniform)

        return reply

    def _reply(
        self,
        node: int,
        board: Board,
        player: int,
        policy: RangePolicy,
        reach: NDArray[np.float64],
        table: dict[tuple[int, Board], NDArray[np.float32]],
    ) -> NDArray[np.float64]:
        """Values [n] of the player's hands against the opponent's `reach`; fills `table` on the way up."""
        tree = self.tree
        if tree.kind[node] == Kind.STREET:
            total = np.zeros(len(self.hands[player]))
            for deal, chance in self.deals(node, board):
                arrived = reach * self.live(1 - player, deal)
                below = self._reply(int(tree.first_child[node]), deal, player, policy, arrived, table)
                total += chance * self.live(player, deal) * below
            return total
        if tree.num_children[node] == 0:
            pairs = self._terminal(node, board) * self.compatible
            return np.asarray(pairs @ reach if player == 0 else -(reach @ pairs))
        children = tree.children(node)
        if tree.player[node] != player:
            probabilities = policy(node, board)[self.hands[1 - player]].astype(np.float64)
            parts = [
                self._reply(child, board, player, policy, reach * probabilities[:, action], table)
                for action, child in enumerate(children)
            ]
            return np.asarray(np.sum(parts, axis=0))
        values = np.array([self._reply(child, board, player, policy, reach, table) for child in children])
        best = values.argmax(axis=0)
        rows = np.full((tree.rules.num_hands, len(children)), 1.0 / len(children), np.float32)
        rows[self.hands[player]] = np.eye(len(children), dtype=np.float32)[best]
        table[node, board] = rows
        return np.asarray(values.max(axis=0))


class OracleLeaf(LeafEvaluator):
    """`LeafEvaluator` by enumeration: every live hand is a cluster of its own."""

    def __init__(self, game: PairGame, own: RangePolicy, continuations: Sequence[RangePolicy]) -> None:
        self._game = game
        self._own = own
        self._continuations = tuple(continuations)
        self.num_continuations = len(continuations)

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Net chips of `own` [L, K, n_own, n_opp] at leaves of the full tree; `ranges` must be those of the game."""
        game, tree = self._game, self._game.tree
        sign, offset = (1.0 if own == 0 else -1.0), 0.5 * tree.dead
        values = []
        for leaf in leaves:
            node = tree.find(leaf.line)
            while tree.parent[node] >= 0 and tree.kind[tree.parent[node]] == Kind.STREET:
                node = int(tree.parent[node])
            row = []
            for continuation in self._continuations:
                policies = (self._own, continuation) if own == 0 else (continuation, self._own)
                pairs = sign * game.pair_values(node, board, policies) + offset
                row.append(pairs if own == 0 else pairs.T)
            values.append(row)
        clusters = np.full((2, ranges.shape[1]), -1, np.int32)
        for player in range(2):
            clusters[player, game.hands[player]] = np.arange(len(game.hands[player]))
        return LeafValues(own, clusters[own], clusters[1 - own], np.array(values, np.float32))


def load_policy(solver: VectorSolver, policy: RangePolicy) -> None:
    """Makes `policy` the average strategy of `solver` at every decision on every board of its game."""
    game = solver.game
    for node in game.tree.decision_nodes.tolist():
        start = game.boards.boards.street_start
        street = int(game.tree.street[node])
        for index in range(start[street], start[street + 1]):
            rows = np.asarray(policy(node, game.boards.cards[index]), np.float32)
            solver.set_average(node, index, rows[game.hands(int(game.tree.player[node]), index)])
