"""A two-player subgame in vector form: a betting tree, a board, both ranges, and values at the depth limit."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.game.rules import Rules
from poker.kernels.simd import LANES
from poker.kernels.types import Board, Floats, Reals, Singles
from poker.kernels.vector.boards import runout_matrix
from poker.run.errors import PokernetsError, TooLargeError
from poker.solvers.vector.boards import BoardSet, Group, build_boards, deck_of, final_ranks, symmetries
from poker.solvers.vector.layout import CONTROL_UNIT, NO_RAKE, Layout, Rake, tree_layout
from poker.solvers.vector.leaves import LeafValues
from poker.tree import BettingTree

DEFAULT_MEMORY_LIMIT = 8 << 30
NO_LIMIT = 1 << 62
NANOSECONDS_PER_HAND_ACTION = 1.8


def _rivers_of(layout: Layout, rules: Rules, rivers: int | None) -> int | None:
    """Return the number of rivers after each turn; None for all, as in trees that begin on the turn or end before."""
    first, last = layout.first_street, layout.last_street
    return rivers if first < last - 1 and last == rules.num_streets - 1 else None


def estimated_hand_actions(tree: BettingTree, hands: Sequence[int], rivers: int | None = None) -> float:
    """Estimate `VectorGame.hand_actions` before anything is built, as if no boards were merged.

    Args:
        hands: number of hands in the range of each player.
        rivers: number of rivers after each turn, as in `VectorGame`; None for all.
    """
    rules, layout = tree.rules, tree_layout(tree)
    unseen = rules.deck_size - rules.board_sizes[layout.first_street]
    boards, total, few = 1, 0.0, _rivers_of(layout, rules, rivers)
    for street in range(layout.first_street, layout.last_street + 1):
        dealt = rules.board_sizes[street] - rules.board_sizes[layout.first_street]
        if street > layout.first_street:
            number = comb(rules.deck_size - rules.board_sizes[street - 1], rules.board_cards[street])
            boards *= number if few is None or street < layout.last_street else min(number, few)
        live = comb(unseen - rules.num_hole_cards, dealt) / comb(unseen, dealt)
        total += boards * live * float(layout.entries[street] @ np.asarray(hands))
    return total


class VectorGame:
    """A subgame in the form that solvers need; solvers do not change it.

    Boards are in the order of `on(street)`, and games with the same board and ranges have the same order. A merged
    board has the values of its representative.

    A gadget protects the hands that its owner may have. The owner's range at the root must be positive wherever the
    solution shall concede no more than the alternative (Burch et al. give every hand weight 1). The size of the weights
    does not matter for this.

    With `rivers`, a game that begins before the turn has only this number of rivers after each turn, drawn at random
    once and for all, and a control at the ends of turns (`poker.solvers.vector.layout`). Its strategies on the first
    round are close to those in the full game.

    Attributes:
        layout: the tree in the form that kernels read.
        board: cards on the board at the root.
        ranges: float32 [2, H] ranges without hands that share a card with the board.
        boards: all boards below the root.
        num_entries: number of action rows times padded hands, the length of a solver's arrays.
        rivers: number of rivers after each turn; None for all.
        sampled: whether the game has fewer rivers than all, so that turns have controls.
        clusters_are_orbits: whether hands of a cluster at leaves differ only in their suits, and play alike.
    """

    def __init__(
        self,
        tree: BettingTree,
        board: Board = (),
        ranges: Singles | None = None,
        leaf_values: LeafValues | None = None,
        *,
        alternatives: Singles | None = None,
        rake: Rake = NO_RAKE,
        isomorphism: bool = True,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        rivers: int | None = None,
    ) -> None:
        """Build the game.

        Args:
            board: [n] cards on the board at the root.
            ranges: float32 [2, H] weights of at least 0 per hand; None for uniform ranges. Hands that share a card with
                the board are dropped.
            leaf_values: values at the depth limit, if the tree has one.
            alternatives: float32 [G, boards of the gadgets' street, H] for a tree with gadgets; [H] suffices for one
                gadget on one board. The chips of the whole hand that each hand of the gadget's owner has without
                entering, given that the searcher has a compatible hand of the arriving range. NaN counts as 0.
            rake: rake that the winner of a pot pays.
            isomorphism: merge boards that differ only in the names of suits.
            memory_limit: largest number of bytes of a solve.
            rivers: number of rivers after each turn; None for all.

        Raises:
            PokernetsError: the board, a range, leaf values or alternatives are missing or invalid, or the memory limit
                would be exceeded. The limit is checked before anything large is allocated.
        """
        rules = tree.rules
        self.tree = tree
        self.rules = rules
        self.layout: Layout = tree_layout(tree, rake)
        self.rake = rake
        self.board = self._checked_board(board)
        self.ranges = self._live_ranges(ranges)
        self.leaf_values = leaf_values
        self._check_leaves()
        self.memory_limit = memory_limit
        if alternatives is not None and np.isinf(alternatives).any():
            raise PokernetsError("alternative values must not be infinite; use NaN for hands without one")
        alike = [self.ranges]
        if alternatives is not None and tree.gadget is not None and tree.gadget.street == self.layout.first_street:
            rows = np.nan_to_num(np.reshape(alternatives, (-1, rules.num_hands)))
            alike.append(np.where(rules.space.live(self.board), rows, 0).astype(np.float32))
        group = symmetries(rules, self.board, np.concatenate(alike)) if isomorphism else (0,)
        self.clusters_are_orbits = len(group) > 1 and self._clusters_are_orbits(group)
        if self.leaf_values is not None and not self.clusters_are_orbits:
            group = (0,)
        self.rivers = _rivers_of(self.layout, rules, rivers)
        if self.rivers is not None:
            self.layout = tree_layout(tree, rake, control=True)
        first, last = self.layout.first_street, self.layout.last_street
        self.boards: BoardSet = build_boards(rules, self.board, first, last, self.ranges, group, self.rivers)
        sizes = (self._entries * self.boards.boards.padded).T.reshape(-1)
        ends = np.cumsum(sizes)
        self.boards.boards.block[:] = (ends - sizes).reshape(-1, 2).T
        self.num_entries = int(ends[-1])
        self.runout_at, self.runout_matrix = self._runout_matrices()
        self.alternative_at, self.alternatives = self._list_alternatives(alternatives)

    def _checked_board(self, board: Board) -> Board:
        rules, wanted = self.rules, self.rules.board_sizes[self.layout.first_street]
        cards = tuple(int(card) for card in board)
        if len(cards) != wanted:
            raise PokernetsError(f"board `{rules.cards_text(cards)}`: the root's street has {wanted} cards")
        if len(set(cards)) != len(cards):
            raise PokernetsError(f"board `{rules.cards_text(cards)}`: a card occurs twice")
        if any(not 0 <= card < rules.deck_size for card in cards):
            raise PokernetsError(f"board {cards}: cards of `{rules.name}` are 0 to {rules.deck_size - 1}")
        return cards

    def _live_ranges(self, ranges: Singles | None) -> Singles:
        shape = (2, self.rules.num_hands)
        weights = np.ones(shape, np.float32) if ranges is None else np.array(ranges, np.float32)
        if weights.shape != shape:
            raise PokernetsError(f"ranges of `{self.rules.name}` have the shape {shape}, not {weights.shape}")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise PokernetsError("ranges: weights must be finite and at least 0")
        weights[:, ~self.rules.space.live(self.board)] = 0
        for player in range(2):
            if not weights[player].any():
                text = self.rules.cards_text(self.board)
                raise PokernetsError(f"the range of player {player} is empty after removing hands blocked by `{text}`")
        return weights

    def _check_leaves(self) -> None:
        needed, given = self.tree.num_leaf_states, self.leaf_values
        if not needed:
            self.leaf_values = None
            return
        choices = int(self.tree.leaf_choice.max()) + 1
        if given is None:
            raise PokernetsError(f"the tree ends at {needed} depth-limit leaves: leaf values are needed")
        if given.num_leaves != needed or given.num_continuations < choices:
            raise PokernetsError(
                f"leaf values are for {given.num_leaves} leaves and {given.num_continuations} continuations"
                f", the tree has {needed} and {choices}"
            )
        if len(given.own_cluster) != self.rules.num_hands or len(given.opp_cluster) != self.rules.num_hands:
            raise PokernetsError(f"leaf values: clusters must be given for all {self.rules.num_hands} hands")

    def _clusters_are_orbits(self, group: Group) -> bool:
        """Return whether the game has one board, and clusters of hands that a group of suit permutations maps."""
        leaf, live, layout = self.leaf_values, self.rules.space.live(self.board), self.layout
        if (
            leaf is None
            or layout.first_street < layout.last_street
            or not np.array_equal(leaf.own_cluster, leaf.opp_cluster)
        ):
            return False
        orbits, clusters = deck_of(self.rules).hand_map[list(group)].min(axis=0)[live], leaf.own_cluster[live]
        pairs = np.unique(np.stack([orbits, clusters]), axis=1).shape[1]
        return bool(pairs == len(np.unique(orbits)) == len(np.unique(clusters)) == leaf.values.shape[3])

    def _runout_matrices(self) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
        """Return the starts [2, B] of matrices, for all-ins with cards to come and for controls, and all matrices."""
        boards, rules = self.boards.boards, self.rules
        places = [(0, b) for street in self.layout.runout_streets for b in self.on(street)]
        if self.rivers is not None:
            places += [(1, b) for b in self.on(self.layout.last_street - 1)]
        starts = np.zeros((2, len(self.boards.cards)), np.int64)
        sizes = [int(boards.size[1, b]) * int(boards.padded[0, b]) for _, b in places]
        if 2 * sum(sizes) > self.memory_limit:
            raise TooLargeError(
                f"the results of all-ins need {2 * sum(sizes) / 2**20:.0f} MiB, more than the limit of"
                f" {self.memory_limit / 2**20:.0f} MiB: narrow the ranges or raise the limit"
            )
        matrices = np.zeros(max(1, sum(sizes)), np.int16)
        begin = 0
        for (control, b), size in zip(places, sizes, strict=True):
            board = self.boards.cards[b]
            rest = [card for card in range(rules.deck_size) if card not in board]
            to_come = list(combinations(rest, rules.total_board_cards - len(board)))
            ranks = final_ranks(rules, [board + cards for cards in to_come])
            dealt = np.array([sum(1 << card for card in cards) for cards in to_come], np.uint64)
            matrix = matrices[begin : begin + size].reshape(boards.size[1, b], boards.padded[0, b])
            weights = self._control(b, to_come) if control else np.ones(len(to_come), np.int16)
            runout_matrix(rules.space.masks, self.hands(0, b), self.hands(1, b), dealt, ranks, weights, matrix)
            starts[control, b] = begin
            begin += size
        return starts, matrices

    def _control(self, index: int, to_come: list[Board]) -> NDArray[np.int16]:
        """Return the weight [R] in the control of each concrete board that can follow a board.

        The weight is that of the board among all boards, minus its share of the weight of its class if the class is in
        the game.
        """
        boards, deck, sets = self.boards.boards, deck_of(self.rules), self.boards
        below = range(*boards.child_start[index : index + 2].tolist())
        orders = comb(self.rules.deck_size - len(sets.cards[index]) - 2 * self.rules.num_hole_cards, len(to_come[0]))
        weights = np.full(len(to_come), CONTROL_UNIT, np.float64)
        place = {frozenset(cards): row for row, cards in enumerate(to_come)}
        for child in below:
            dealt = list(sets.cards[child][len(sets.cards[index]) :])
            rows = sorted({place[frozenset(deck.card_map[g, dealt].tolist())] for g in sets.groups[index]})
            weights[rows] -= boards.weight[child] * orders * CONTROL_UNIT / len(rows)
        return weights.round().astype(np.int16)

    def _list_alternatives(self, alternatives: Singles | None) -> tuple[NDArray[np.int64], Singles]:
        """Return alternative values of the zero-sum game for the kernels, and where each board's values start."""
        tree, boards = self.tree, self.boards.boards
        starts = np.zeros(len(self.boards.cards), np.int64)
        if tree.gadget is None:
            if alternatives is not None:
                raise PokernetsError("alternative values are for trees with gadgets; build the tree with one")
            return starts, np.zeros(LANES, np.float32)
        if alternatives is None:
            raise PokernetsError("the tree has gadgets: alternative values are needed")
        owner, on, number = tree.gadget.player, self.on(tree.gadget.street), len(tree.gadgets)
        shape = number, len(on), self.rules.num_hands
        values = np.asarray(alternatives, np.float32)
        if values.shape == shape[2:] and shape[:2] == (1, 1):
            values = values[None, None]
        if values.shape != shape:
            raise PokernetsError(f"alternative values of this game have the shape {shape}, not {values.shape}")
        padded = boards.padded[owner, on].astype(np.int64)
        starts[on] = number * (np.cumsum(padded) - padded)
        out = np.zeros(max(LANES, number * int(padded.sum())), np.float32)
        for row, board in enumerate(on):
            hands = self.hands(owner, board)
            place = out[starts[board] : starts[board] + number * padded[row]].reshape(number, -1)
            place[:, : len(hands)] = np.nan_to_num(values[:, row, hands]) - 0.5 * tree.dead
        return starts, out

    @property
    def pot(self) -> int:
        """Chips in the pot at the root, the unit of the exploitability at which a solve stops."""
        return self.tree.pot(0)

    @cached_property
    def hand_actions(self) -> int:
        """Number of hands times actions over all boards and decisions of both players."""
        return int((self._entries * self.boards.boards.size).sum())

    @property
    def _entries(self) -> NDArray[np.int64]:
        """[2, B] number of action rows of each player on each board."""
        return np.repeat(self.layout.entries, np.diff(self.boards.boards.street_start), axis=0).T

    def bytes(self, arrays: int = 2) -> int:
        """Return the memory of a solver with `arrays` float32 values per action row and hand."""
        return 4 * arrays * self.num_entries

    def seconds_per_iteration(self, threads: int = 1) -> float:
        """Estimate the seconds of an iteration on current CPUs; `make bench` measures this one."""
        return self.hand_actions * NANOSECONDS_PER_HAND_ACTION * 1e-9 / threads

    @cached_property
    def compatible(self) -> Floats:
        """float64 [2, H] weight of the opponent's hands that are compatible with each hand of each player."""
        return np.stack([self.rules.space.compatible_mass(self.ranges[1 - p].astype(np.float64)) for p in range(2)])

    @cached_property
    def total_weight(self) -> float:
        """Weight of all compatible pairs of hands.

        Raises:
            PokernetsError: there is no compatible pair.
        """
        total = float((self.ranges[0] * self.compatible[0]).sum())
        if total <= 0:
            raise PokernetsError("every hand of one player blocks all hands of the other")
        return total

    def on(self, street: int) -> range:
        """Return the boards of a street as a range of indices."""
        return range(*self.boards.boards.street_start[street : street + 2].tolist())

    def hands(self, player: int, board: int = 0) -> NDArray[np.uint16]:
        """Return the hands of a player on a board.

        Args:
            board: index of the board.

        Returns:
            uint16 [n] hands in the order of the player's list.
        """
        boards = self.boards.boards
        start = boards.list_start[player, board]
        return self.boards.lists.hand[start : start + boards.size[player, board]]

    def rows(self, array: NDArray[Any], node: int, board: int) -> NDArray[Any]:
        """Return the action rows of a node on a board.

        Args:
            array: [entries] array in the layout of the game.
            node: decision node.
            board: index of the board.

        Returns:
            [A, n] view of `array`, with the n hands of the board's list.
        """
        boards, player, actions = self.boards.boards, int(self.tree.player[node]), int(self.tree.num_children[node])
        padded = int(boards.padded[player, board])
        start = int(boards.block[player, board]) + int(self.layout.nodes.entry[self.layout.position[node]]) * padded
        return array[start : start + actions * padded].reshape(actions, padded)[:, : boards.size[player, board]]

    def by_hand(self, node: int, board: Board, rows: Callable[[int], Reals]) -> Singles:
        """Convert rows of a node to an array over all hands.

        Args:
            node: decision node.
            rows: function from the index of the board's class to rows [A, n] over the hands of its list.

        Returns:
            float32 [H, A]; 0 for hands that are not in the list.

        Raises:
            PokernetsError: the board is not in the game.
        """
        index, permutation = self.find_board(int(self.tree.street[node]), board)
        out = np.zeros((self.rules.num_hands, int(self.tree.num_children[node])), np.float32)
        out[self.hands(int(self.tree.player[node]), index)] = rows(index).T
        return out if permutation == 0 else np.asarray(out[deck_of(self.rules).hand_map[permutation]])

    def find_board(self, street: int, board: Board) -> tuple[int, int]:
        """Find the class that represents a board.

        Args:
            board: [n] cards of the board.

        Returns:
            Index of the class, and the suit permutation that maps the board to it.

        Raises:
            PokernetsError: the board is not in the game.
        """
        rules, boards, card_map = self.rules, self.boards, deck_of(self.rules).card_map
        sizes, cards = rules.board_sizes, board[: rules.board_sizes[street]]
        if len(cards) != sizes[street] or cards[: len(self.board)] != self.board or len(set(cards)) != len(cards):
            raise PokernetsError(
                f"board `{rules.cards_text(board)}` does not continue `{rules.cards_text(self.board)}`"
            )
        index, permutation = 0, 0
        for level in range(self.layout.first_street + 1, street + 1):
            dealt = card_map[permutation, list(board[sizes[level - 1] : sizes[level]])]
            below = range(*boards.boards.child_start[index : index + 2].tolist())
            places = {frozenset(boards.cards[child][sizes[level - 1] :]): child for child in below}
            images = {g: frozenset(card_map[g, dealt].tolist()) for g in boards.groups[index]}
            extra = next((g for g, image in images.items() if image in places), None)
            if extra is None:
                raise PokernetsError(f"board `{rules.cards_text(board)}` is not one of the sampled rivers of this game")
            index = places[images[extra]]
            both = card_map[extra, card_map[permutation]]
            permutation = int(np.flatnonzero((card_map == both).all(axis=1))[0])
        return index, permutation
