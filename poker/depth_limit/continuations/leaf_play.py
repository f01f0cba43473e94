"""Exact values at the end of the first round, when two strategies of a solved two-round game play on from there.

A value belongs to a pair of clusters of hands: hands that suits map to each other, in hold'em the 169 classes. It is
the mean over all pairs of hands and all boards. Strategies and ranges do not depend on the names of suits, so nothing
is lost.

L is the number of leaves, N of tree nodes, H of hands and C of clusters.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poker.kernels.simd import LANES
from poker.kernels.types import I32, I64, U8, Floats, Path, Singles
from poker.kernels.vector.leaf_play import LeafBetting, Strategies, add_leaf_values
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import action_classes, bias_of
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Kind

_CHUNKS = 16


@dataclass(frozen=True)
class Mixed:
    """The blueprint, possibly with biased action probabilities.

    Attributes:
        factor: float32 [N] multiplier of each action's probability, by the node it leads to; None for the blueprint
            itself.
    """

    factor: Singles | None = None


@dataclass(frozen=True)
class Pure:
    """A strategy with one action for every hand and board.

    Attributes:
        actions: uint8 [entries] actions as packed by `LeafPlay.recorded`.
    """

    actions: U8


Play = Mixed | Pure
BLUEPRINT = Mixed()


def biased_play(tree: BettingTree, kind: str, factor: float) -> Mixed:
    """Return a biased continuation of [DLS] section 4.

    Args:
        tree: the blueprint's tree.
        kind: name of the continuation.
        factor: multiplier of the favoured class of action.
    """
    by_class = np.array(bias_of(kind, factor), np.float32)
    return Mixed(by_class[action_classes(tree.action)])


class LeafPlay:
    """Strategies below the first round of a solver's game: its average, biased forms and recorded responses.

    The game begins with the hand and has two rounds and no rake. Both players may have any hand.

    Attributes:
        solver: the solver whose average is the blueprint.
        threads: number of threads that compute values.
        nodes: [L] STREET nodes of the full tree, the leaves in the order of values.
    """

    def __init__(self, solver: VectorSolver, threads: int = 1) -> None:
        """Check the game and find its leaves.

        Args:
            solver: the solver whose average is the blueprint.
            threads: number of threads that compute values.

        Raises:
            PokernetsError: the game does not start with the hand, or has other than two rounds, rake or limited ranges.
        """
        game = solver.game
        if game.layout.first_street or game.layout.last_street != 1 or game.tree.num_leaf_states:
            raise PokernetsError(
                "exact values at the end of the first round need the whole tree of a game of two rounds, not"
                f" this tree of `{game.rules.name}`"
            )
        if game.rake.fraction or (game.ranges != 1).any():
            raise PokernetsError("exact values of the first round need a game without rake and full ranges")
        self.solver = solver
        self.game = game
        self.threads = threads
        tree = game.tree
        self.nodes = np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == 0))
        """[L] STREET nodes of the full tree, in the order of values."""

    @cached_property
    def leaves(self) -> tuple[Path, ...]:
        """[L] paths of actions that lead to each leaf."""
        return tuple(self.game.tree.path(int(node)) for node in self.nodes)

    @cached_property
    def clusters(self) -> I32:
        """int32 [H] cluster of each hand."""
        images = deck_of(self.game.rules).hand_map[np.array(self.game.boards.groups[0])].min(axis=0)
        return np.unique(images, return_inverse=True)[1].astype(np.int32)

    @cached_property
    def pairs(self) -> Floats:
        """float64 [C, C] number of compatible pairs of hands of two clusters."""
        member = np.eye(int(self.clusters.max()) + 1)[self.clusters]
        return np.asarray(member.T @ self.game.rules.space.disjoint @ member, np.float64)

    def values(self, play: Sequence[Play]) -> Singles:
        """Compute the exact value of every leaf.

        Args:
            play: the strategies of players 0 and 1.

        Returns:
            float32 [L, C, C] net chips of player 0, by the clusters of players 0 and 1.

        Raises:
            PokernetsError: a recorded strategy belongs to another game.
        """
        boards, count = np.arange(*self.game.boards.boards.street_start[1:3]), len(self.pairs)
        bound = self._strategies(play)
        wide = (count + LANES - 1) // LANES * LANES

        def part(part_boards: I64) -> Floats:
            out = np.zeros((len(self.nodes), count, wide))
            add_leaf_values(
                self.game.boards.boards, self.game.boards.lists, self._betting, bound, self.clusters,
                self.game.boards.num_card_slots, part_boards, out,
            )  # fmt: skip
            return out

        total = np.zeros((len(self.nodes), count, wide))
        with ThreadPoolExecutor(self.threads) as pool:
            for sums in pool.map(part, np.array_split(boards, min(_CHUNKS, len(boards)))):
                total += sums
        means = total[:, :, :count] / np.maximum(self.pairs, 1)
        return (means + 0.5 * self.game.tree.dead * (self.pairs > 0)).astype(np.float32)

    def recorded(self, player: int, actions: U8) -> Pure:
        """Pack the second round of a best response.

        Args:
            player: the player who responds.
            actions: uint8 [entries] actions that `VectorSolver.best_response` wrote.
        """
        boards, nodes = self.game.boards.boards, np.flatnonzero(self._number[player] >= 0)
        packed = np.empty(int(self._starts[player, -1]), np.uint8)
        for board in self.game.on(1):
            padded, size = int(boards.padded[player, board]), int(boards.size[player, board])
            for number, node in enumerate(nodes.tolist()):
                start = int(self._starts[player, board]) + number * padded
                packed[start : start + size] = self.game.rows(actions, node, board)[0]
        return Pure(packed)

    @cached_property
    def _number(self) -> I32:
        """[2, N] number of a node among the player's decisions of the second round, or -1."""
        tree, number = self.game.tree, np.full((2, len(self.game.tree)), -1, np.int32)
        for player in range(2):
            nodes = np.flatnonzero((tree.kind == Kind.DECISION) & (tree.street == 1) & (tree.player == player))
            number[player, nodes] = np.arange(len(nodes))
        return number

    @cached_property
    def _starts(self) -> I64:
        """[2, B + 1] where the actions of each board begin in a packed strategy, and where the last ones end."""
        boards = self.game.boards.boards
        sizes = boards.padded * (self._number.max(axis=1, initial=-1) + 1)[:, None].astype(np.int64)
        sizes[:, : boards.street_start[1]] = 0
        return np.pad(np.cumsum(sizes, axis=1), ((0, 0), (1, 0)))

    def _strategies(self, play: Sequence[Play]) -> Strategies:
        factor = np.ones((2, len(self._order)), np.float32)
        choices = [np.zeros(1, np.uint8), np.zeros(1, np.uint8)]
        for player, each in enumerate(play):
            if isinstance(each, Pure):
                if len(each.actions) != self._starts[player, -1]:
                    raise PokernetsError("the recorded strategy has other decisions than this game: record it again")
                choices[player] = each.actions
            elif each.factor is not None:
                factor[player] = each.factor[self._order]
        pure = np.array([isinstance(each, Pure) for each in play])
        return Strategies(self.solver.arrays["sums"], factor, pure, choices[0], choices[1], self._starts)

    @cached_property
    def _order(self) -> I64:
        """[M] nodes below the leaves, leaf by leaf."""
        tree = self.game.tree
        leaf = np.full(len(tree), -1)
        leaf[tree.first_child[self.nodes]] = np.arange(len(self.nodes))
        for node in range(len(tree)):
            if tree.parent[node] >= 0 and leaf[node] < 0:
                leaf[node] = leaf[tree.parent[node]]
        return np.asarray(np.argsort(leaf, kind="stable")[(leaf < 0).sum() :], np.int64)

    @cached_property
    def _betting(self) -> LeafBetting:
        game, tree, order = self.game, self.game.tree, self._order
        place = np.full(len(tree), -1, np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        roots = place[tree.first_child[self.nodes]]
        player = tree.player[order]
        acts = player >= 0
        positions = game.layout.position[order]
        entry = np.where(acts, game.layout.nodes.entry[positions], -1)
        rows, ends, sequences = _ends(tree, order, roots)
        return LeafBetting(
            node_start=np.append(roots, len(order)).astype(np.int32),
            player=player.astype(np.int8),
            first_child=np.where(acts, place[tree.first_child[order]], -1).astype(np.int32),
            num_children=np.where(acts, tree.num_children[order], 0).astype(np.int32),
            entry=entry.astype(np.int32),
            decision=self._number[:, order].max(axis=0).astype(np.int32),
            row=rows,
            end_start=_starts([len(each) for each in ends]),
            end=np.array([row[:3] for each in ends for row in each], np.int32).reshape(-1, 3),
            amount=np.array([row[3] for each in ends for row in each], np.float32),
            sequence_start=_starts([len(each) for each in sequences]),
            sequence=np.array([row for each in sequences for row in each], np.int32),
        )


def _starts(sizes: Sequence[int]) -> I32:
    return np.append(0, np.cumsum(sizes)).astype(np.int32)


def _ends(
    tree: BettingTree, order: I64, roots: I32
) -> tuple[I32, list[list[tuple[int, int, bool, float]]], list[list[int]]]:
    """Return reach rows [2, M], and for each leaf its ends and the rows of its sequences.

    An end is a tuple (sequence, row of player 1, showdown, chips).
    """
    rows = np.zeros((2, len(order)), np.int32)
    at = {int(node): i for i, node in enumerate(order)}
    ends: list[list[tuple[int, int, bool, float]]] = []
    sequences: list[list[int]] = []
    for begin, end in zip(roots.tolist(), [*roots[1:].tolist(), len(order)], strict=True):
        used, leaf_ends, number = [1, 1], [], dict[int, int]()
        for i in range(begin, end):
            node = int(order[i])
            half = float(tree.committed[node].min()) + 0.5 * tree.dead
            if tree.kind[node] != Kind.DECISION:
                sequence = number.setdefault(int(rows[0, i]), len(number))
                showdown = tree.kind[node] == Kind.SHOWDOWN
                leaf_ends.append((sequence, int(rows[1, i]), bool(showdown), -half if tree.folded[node, 0] else half))
            for child in tree.children(node):
                rows[:, at[child]] = rows[:, i]
                if tree.kind[node] == Kind.DECISION:
                    mover = int(tree.player[node])
                    rows[mover, at[child]] = used[mover]
                    used[mover] += 1
        ends.append(leaf_ends)
        sequences.append(list(number))
    return rows, ends, sequences
