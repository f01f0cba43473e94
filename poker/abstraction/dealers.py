"""Dealers: batches of random deals as bucket numbers and showdown ranks, drawn by compiled kernels.

There are P players and S streets. Sampling solvers know nothing else about cards, so one solver plays both Kuhn poker
and ten-player hold'em. Threads share a dealer, but each thread has its own random state (`poker.kernels.rng.streams`).
"""

import itertools
from typing import Any, Protocol

import numpy as np

from poker.abstraction.buckets import Buckets, CardAbstraction, SmallGameBuckets, is_holdem
from poker.game.rules import Rules
from poker.game.state import showdown_ranks
from poker.kernels.cards.ranks import RANKS
from poker.kernels.sampling import deals as kernel
from poker.kernels.sampling.nodes import Deals
from poker.kernels.types import I32, U64, Board
from poker.run.errors import PokernetsError


class Dealer(Protocol):
    """A source of random deals of one game."""

    def deal(self, rng: U64, n: int) -> Deals:
        """Draw independent deals.

        Args:
            rng: uint64 [4] random state; advanced.
            n: number of deals.

        Returns:
            Buckets int32 [n, P, S] and showdown ranks int32 [n, P].
        """


class HoldemDealer:
    """A dealer for hold'em games with two streets (flop hold'em) or four."""

    def __init__(self, rules: Rules, cards: CardAbstraction) -> None:
        """Select the bucket tables of the game.

        Raises:
            PokernetsError: the game is not hold'em with two or four streets, or the abstraction has fewer streets.
        """
        if not is_holdem(rules) or rules.num_streets not in (2, 4) or cards.num_streets < rules.num_streets:
            raise PokernetsError(
                f"game {rules.name}: only hold'em of two or four streets is supported, with an abstraction of as many"
            )
        self._num_players = rules.num_players
        self._num_streets = rules.num_streets
        last = rules.num_streets - 1
        self._tables = (cards.tables[0], cards.tables[1], cards.tables[min(2, last)], cards.tables[last], RANKS)

    def deal(self, rng: U64, n: int) -> Deals:
        """Draw independent deals.

        Args:
            rng: uint64 [4] random state; advanced.
            n: number of deals.

        Returns:
            Buckets int32 [n, P, S] and showdown ranks int32 [n, P].
        """
        deals = _empty_deals(n, self._num_players, self._num_streets)
        kernel.deal_holdem(rng, *self._tables, deals.buckets, deals.ranks)
        return deals


class SmallGameDealer:
    """A dealer for games with one hole card, in the buckets of `SmallGameBuckets`."""

    def __init__(self, rules: Rules) -> None:
        """Tabulate the buckets and ranks of all boards.

        Raises:
            PokernetsError: the game has more than one hole card or more than three board cards.
        """
        cards = SmallGameBuckets(rules)
        self._num_players = rules.num_players
        self._deck = rules.deck_size
        self._board_sizes = np.array(rules.board_sizes, dtype=np.int64)
        boards = [_boards(self._deck, size) for size in rules.board_sizes]
        self._offsets = np.cumsum([0] + [len(rows) for rows in boards[:-1]])
        self._buckets = np.concatenate([_table(rows, self._deck, cards.buckets) for rows in boards])
        hands = [(card,) for card in range(self._deck)]
        self._ranks = _table(boards[-1], self._deck, lambda board: showdown_ranks(rules, hands, board))

    def deal(self, rng: U64, n: int) -> Deals:
        """Draw independent deals.

        Args:
            rng: uint64 [4] random state; advanced.
            n: number of deals.

        Returns:
            Buckets int32 [n, P, S] and showdown ranks int32 [n, P].
        """
        deals = _empty_deals(n, self._num_players, len(self._board_sizes))
        tables = (self._offsets, self._buckets, self._ranks)
        kernel.deal_small(rng, self._deck, self._board_sizes, *tables, deals.buckets, deals.ranks)
        return deals


def dealer_of(rules: Rules, cards: Buckets) -> Dealer:
    """Return the dealer of a game.

    Args:
        cards: its buckets, from `game_cards`.

    Raises:
        PokernetsError: no dealer supports the game.
    """
    return HoldemDealer(rules, cards) if isinstance(cards, CardAbstraction) else SmallGameDealer(rules)


def _empty_deals(n: int, num_hands: int, num_streets: int) -> Deals:
    shape = (n, num_hands, num_streets)
    return Deals(np.empty(shape, dtype=np.int32), np.empty(shape[:2], dtype=np.int32))


def _boards(deck: int, size: int) -> list[tuple[int, ...]]:
    """Return ordered boards by number, first card least significant, including those that repeat a card."""
    return [tuple(reversed(digits)) for digits in itertools.product(range(deck), repeat=size)]


def _table(boards: list[tuple[int, ...]], deck: int, values: Any) -> I32:
    """Return an int32 [boards, deck] table of values(board) [deck], -1 for boards that repeat a card."""
    out = np.full((len(boards), deck), -1, dtype=np.int32)
    for row, board in enumerate(boards):
        if len(set(board)) == len(board):
            out[row] = values(board)
    return out


def sample_boards(rules: Rules, board: Board, count: int, rng: np.random.Generator) -> list[Board]:
    """Draw complete boards that begin with the given cards.

    Each board is uniform over the deck. The draws are stratified by the next card, which comes from shuffled decks that
    are dealt to the end.

    Args:
        board: [B] cards already on the board.
        count: number of boards.

    Returns:
        `count` boards with all board cards of the game.
    """
    deck = np.array([card for card in range(rules.deck_size) if card not in board])
    missing = rules.total_board_cards - len(board)
    if missing == 0 or count == 0:
        return [board] * count
    decks = [rng.permutation(deck) for _ in range(-(-count // len(deck)))]
    boards = []
    for card in np.concatenate(decks)[:count].tolist():
        later = rng.choice(deck[deck != card], missing - 1, replace=False)
        boards.append((*board, card, *later.tolist()))
    return boards
