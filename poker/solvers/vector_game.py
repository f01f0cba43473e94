"""A two-player subgame in vector form: a betting tree, a board, a range for each player, values at the depth limit."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.solvers.leaf_values import LeafValues
from poker.solvers.vector_boards import BoardSet, build_boards, deck_of, symmetries
from poker.solvers.vector_layout import Layout, tree_layout
from poker.tree import BettingTree

DEFAULT_MEMORY_LIMIT = 8 << 30


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of the action rows (regrets, strategy sums), and how many hands times actions an iteration updates."""

    bytes: int
    hand_actions: int


class VectorGame:
    """What a solver of the subgame needs and no solver changes.

    `board` are the cards on the table at the root, `ranges` float32[2, H] weights >= 0 per hand (None: all alike);
    hands that hold a card of the board are dropped. Raises PokernetsError for a bad board or range, for missing leaf
    values, and, before anything large is allocated, when more than `memory_limit` bytes would be needed.
    """

    def __init__(
        self,
        tree: BettingTree,
        board: tuple[int, ...] = (),
        ranges: NDArray[np.float32] | None = None,
        leaf_values: LeafValues | None = None,
        *,
        isomorphism: bool = True,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        rules = tree.rules
        self.tree = tree
        self.rules = rules
        self.layout: Layout = tree_layout(tree)
        self.board = self._checked_board(board)
        self.ranges = self._live_ranges(ranges)
        self.leaf_values = self._checked_leaves(leaf_values)
        self.memory_limit = memory_limit
        merge = isomorphism and leaf_values is None
        group = symmetries(rules, self.board, self.ranges) if merge else (0,)
        first, last = self.layout.first_street, self.layout.last_street
        self.boards: BoardSet = build_boards(rules, self.board, first, last, self.ranges, group)
        self.num_entries = self._place_blocks()

    def _checked_board(self, board: tuple[int, ...]) -> tuple[int, ...]:
        rules, wanted = self.rules, self.rules.board_sizes[self.layout.first_street]
        cards = tuple(int(card) for card in board)
        if len(cards) != wanted:
            raise PokernetsError(f"board `{rules.cards_text(cards)}`: the root's street has {wanted} cards")
        if len(set(cards)) != len(cards):
            raise PokernetsError(f"board `{rules.cards_text(cards)}`: a card is there twice")
        if any(not 0 <= card < rules.deck_size for card in cards):
            raise PokernetsError(f"board {cards}: cards of `{rules.name}` are 0 to {rules.deck_size - 1}")
        return cards

    def _live_ranges(self, ranges: NDArray[np.float32] | None) -> NDArray[np.float32]:
        shape = (2, self.rules.num_hands)
        weights = np.ones(shape, np.float32) if ranges is None else np.array(ranges, np.float32)
        if weights.shape != shape:
            raise PokernetsError(f"ranges of `{self.rules.name}` have the shape {shape}, not {weights.shape}")
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise PokernetsError("ranges: weights must be finite and at least 0")
        masks = deck_of(self.rules).masks
        blocked = masks & np.uint64(sum(1 << card for card in self.board)) != 0
        weights[:, blocked] = 0
        for player in range(2):
            if not weights[player].any():
                text = self.rules.cards_text(self.board)
                raise PokernetsError(f"the range of player {player} is empty after removing hands blocked by `{text}`")
        return weights

    def _checked_leaves(self, leaf_values: LeafValues | None) -> LeafValues | None:
        needed = self.tree.num_leaf_states
        if not needed:
            return None
        choices = int(self.tree.leaf_choice.max()) + 1
        if leaf_values is None:
            raise PokernetsError(f"the tree ends at {needed} depth-limit leaves: leaf values are needed")
        if leaf_values.num_leaves != needed or leaf_values.num_continuations < choices:
            raise PokernetsError(
                f"leaf values are for {leaf_values.num_leaves} leaves and {leaf_values.num_continuations} continuations"
                f", the tree has {needed} and {choices}"
            )
        if len(leaf_values.own_cluster) != self.rules.num_hands or len(leaf_values.opp_cluster) != self.rules.num_hands:
            raise PokernetsError(f"leaf values: clusters must be given for all {self.rules.num_hands} hands")
        return leaf_values

    def _place_blocks(self) -> int:
        """Where each board's action rows start, [2, B]; returns the number of entries in all."""
        boards = self.boards.boards
        sizes = np.zeros(boards.padded.shape, np.int64)
        for street in range(self.layout.first_street, self.layout.last_street + 1):
            window = slice(boards.street_start[street], boards.street_start[street + 1])
            sizes[:, window] = self.layout.entries[street][:, None] * boards.padded[:, window]
        flat = sizes.T.reshape(-1)
        ends = np.cumsum(flat)
        boards.block[:] = (ends - flat).reshape(-1, 2).T
        return int(ends[-1])

    @cached_property
    def hand_actions(self) -> int:
        """Hands times actions over all boards and decisions of both players."""
        boards, counted = self.boards.boards, 0
        for street in range(self.layout.first_street, self.layout.last_street + 1):
            window = slice(boards.street_start[street], boards.street_start[street + 1])
            counted += int((self.layout.entries[street][:, None] * boards.size[:, window].astype(np.int64)).sum())
        return counted

    def memory(self, arrays: int = 2) -> MemoryEstimate:
        """The need of a solver that keeps `arrays` float32 values per action row."""
        return MemoryEstimate(4 * arrays * self.num_entries, self.hand_actions)

    @cached_property
    def compatible(self) -> NDArray[np.float64]:
        """float64[2, H]: weight of the opponent's hands that a hand of each player leaves possible."""
        deck = deck_of(self.rules)
        slots = self.boards.num_card_slots
        out = np.zeros(self.ranges.shape)
        for player in range(2):
            theirs = self.ranges[1 - player].astype(np.float64)
            per_card = np.zeros(slots)
            np.add.at(per_card, deck.hand_cards[:, 0], theirs)
            np.add.at(per_card, deck.hand_cards[:, 1], theirs)
            blocked = per_card[deck.hand_cards[:, 0]] + per_card[deck.hand_cards[:, 1]] - theirs
            out[player] = theirs.sum() - blocked
        return out

    @cached_property
    def total_weight(self) -> float:
        """Weight of all compatible pairs of hands."""
        total = float((self.ranges[0] * self.compatible[0]).sum())
        if total <= 0:
            raise PokernetsError("every hand of one player blocks all hands of the other")
        return total

    def hands(self, player: int, board: int = 0) -> NDArray[np.uint16]:
        """Hand ids in the order of the player's list on a board."""
        boards = self.boards.boards
        start = boards.list_start[player, board]
        return self.boards.lists.hand[start : start + boards.size[player, board]]

    def find_board(self, street: int, board: tuple[int, ...]) -> tuple[int, int]:
        """(index, suit permutation) of the class that stands for `board`: the permutation maps `board` to it."""
        rules, deck = self.rules, deck_of(self.rules)
        size = rules.board_sizes[street]
        cards = board[:size]
        if len(cards) != size or cards[: len(self.board)] != self.board or len(set(cards)) != size:
            raise PokernetsError(
                f"board `{rules.cards_text(board)}` does not continue `{rules.cards_text(self.board)}`"
            )
        index, permutation = 0, 0
        for level in range(self.layout.first_street + 1, street + 1):
            dealt = board[rules.board_sizes[level - 1] : rules.board_sizes[level]]
            seen = deck.card_map[permutation, list(dealt)]
            index, extra = self._child(index, seen)
            permutation = self._compose(extra, permutation)
        return index, permutation

    def _child(self, parent: int, dealt: NDArray[np.int64]) -> tuple[int, int]:
        boards, deck = self.boards, deck_of(self.rules)
        wanted = {}
        for child in range(boards.boards.child_start[parent], boards.boards.child_start[parent + 1]):
            wanted[frozenset(boards.cards[child][-len(dealt) :])] = child
        for g in boards.groups[parent]:
            child = wanted.get(frozenset(deck.card_map[g, dealt].tolist()), -1)
            if child >= 0:
                return child, g
        raise PokernetsError(f"no class for the cards `{self.rules.cards_text(tuple(dealt.tolist()))}`")

    def _compose(self, after: int, before: int) -> int:
        card_map = deck_of(self.rules).card_map
        both = card_map[after, card_map[before]]
        return int(np.flatnonzero((card_map == both).all(axis=1))[0])
