"""Buckets: groups of hands that the blueprint, its dealers and the agents play alike.

`CardAbstraction` stores one table per street, [canonical boards, 1326], so that a concrete board costs one gather (see
`poker.kernels.cards.isomorphism`). `SmallGameBuckets` is the lossless abstraction of games with one hole card.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import NUM_HANDS, CardError
from poker.game.rules import Rules
from poker.kernels.cards.isomorphism import NUM_BOARDS, gather_board
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError
from poker.store.artifacts import Artifact, fingerprint_of, open_artifact, refuses_by_name, write_artifact

KIND = "abstraction"
BOARD_SIZES = (0, 3, 4, 5)
"""Board cards on the streets of hold'em."""


class Buckets(Protocol):
    """The card abstraction of a game with S streets and H hands."""

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """[S] number of buckets on each street."""

    @property
    def fingerprint(self) -> str:
        """Hash that changes whenever a bucket changes."""

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        """Return the bucket of every hand on a board.

        Args:
            board: the cards of one street's board.

        Returns:
            int32 [H] buckets, -1 where the hand shares a card with the board.
        """


@dataclass(frozen=True, eq=False)
class CardAbstraction:
    """Hold'em buckets of the first S streets.

    Attributes:
        tables: for each street s a uint8 or uint16 table [canonical boards of street s, 1326]. Entries of hands that
            share a card with the board have no meaning.
        num_buckets: [S] number of buckets on each street.
        fingerprint: hash of the stored artifact.
    """

    tables: tuple[NDArray[Any], ...]
    num_buckets: tuple[int, ...]
    fingerprint: str

    @property
    def num_streets(self) -> int:
        """Number of streets S."""
        return len(self.tables)

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        """Return the bucket of every hand on a board.

        Args:
            board: 0, 3, 4 or 5 cards.

        Returns:
            int32 [1326] buckets, -1 where the hand shares a card with the board.

        Raises:
            CardError: the abstraction has no street with this many cards.
        """
        cards = np.array(board, dtype=np.uint8)
        out = np.empty(NUM_HANDS, dtype=np.int32)
        gather_board(self._table(len(cards)), cards, out)
        return out

    def first_streets(self, num_streets: int) -> "CardAbstraction":
        """Return the abstraction of a game with fewer streets, with unchanged buckets.

        Args:
            num_streets: number of streets of the game.

        Raises:
            PokernetsError: the abstraction has fewer streets than the game.
        """
        if num_streets == self.num_streets:
            return self
        if num_streets > self.num_streets:
            raise PokernetsError(
                f"the abstraction has {self.num_streets} streets, the game {num_streets}; bundles do not store"
                " the buckets of later streets, so set artifacts=DIRECTORY instead of a bundle"
            )
        name = fingerprint_of({"abstraction": self.fingerprint, "streets": num_streets})
        return CardAbstraction(self.tables[:num_streets], self.num_buckets[:num_streets], name)

    def save(self, path: str | Path, config: Mapping[str, Any]) -> "CardAbstraction":
        """Write the artifact.

        Args:
            path: directory of the artifact.
            config: settings that produced the tables.

        Returns:
            The stored abstraction, with its fingerprint.
        """
        arrays = {f"street_{s}": table for s, table in enumerate(self.tables)}
        counts = {"num_buckets": list(self.num_buckets)}
        return _of_artifact(write_artifact(path, KIND, config=config, arrays=arrays, counts=counts))

    @staticmethod
    @refuses_by_name(KIND)
    def load(path: str | Path, config: Mapping[str, Any] | None = None) -> "CardAbstraction":
        """Open a stored abstraction, memory-mapped.

        Args:
            path: directory of the artifact.
            config: settings that the artifact must have been made with; None to accept any.

        Raises:
            ArtifactError: the artifact is missing, damaged or made with other settings.
        """
        return _of_artifact(open_artifact(path, KIND, config=config))

    def _table(self, num_cards: int) -> NDArray[Any]:
        if num_cards not in BOARD_SIZES[: self.num_streets]:
            raise CardError(f"a board of this abstraction has {BOARD_SIZES[: self.num_streets]} cards, not {num_cards}")
        return self.tables[BOARD_SIZES.index(num_cards)]


def make_abstraction(tables: Sequence[NDArray[Any]], num_buckets: Sequence[int]) -> CardAbstraction:
    """Create an abstraction in memory.

    Its fingerprint covers only the sizes, so save it before anything is derived from it.

    Args:
        tables: one table per street, [canonical boards, 1326].
        num_buckets: [S] number of buckets on each street.

    Raises:
        ValueError: a table has the wrong shape or a type too small for its buckets.
    """
    for street, (table, size) in enumerate(zip(tables, num_buckets, strict=True)):
        shape = (NUM_BOARDS[BOARD_SIZES[street]], NUM_HANDS)
        if table.shape != shape or size > np.iinfo(table.dtype).max + 1:
            raise ValueError(f"street {street}: a table of shape {shape} with room for {size} buckets is needed")
    return CardAbstraction(
        tuple(_read_only(table) for table in tables),
        tuple(int(n) for n in num_buckets),
        fingerprint_of({"sizes": [int(n) for n in num_buckets]}),
    )


def _of_artifact(artifact: Artifact) -> CardAbstraction:
    sizes = artifact.counts["num_buckets"]
    tables = tuple(street_table(artifact, f"street_{street}", street, size) for street, size in enumerate(sizes))
    return CardAbstraction(tables, tuple(sizes), artifact.fingerprint)


def street_table(artifact: Artifact, name: str, street: int, num_buckets: int) -> NDArray[Any]:
    """Read the table of one street from an artifact.

    The entries are checked, because kernels index with them.

    Args:
        artifact: the open artifact.
        name: name of the array.
        street: the street, 0 before the flop.
        num_buckets: number of buckets on the street.

    Returns:
        uint8 or uint16 [canonical boards, 1326].

    Raises:
        ArtifactError: the array is missing, or has the wrong shape, type or range.
    """
    shape = NUM_BOARDS[BOARD_SIZES[street]], NUM_HANDS
    return _read_only(artifact.array(name, shape, dtypes=(np.uint8, np.uint16), within=(0, num_buckets)))


def _read_only(table: NDArray[Any]) -> NDArray[Any]:
    """Return a plain read-only view, because kernels are compiled for one type, mapped or not."""
    view = np.asarray(table).view(np.ndarray)
    view.setflags(write=False)
    return view


@dataclass(frozen=True)
class SmallGameBuckets:
    """Lossless buckets of games with one hole card and at most three board cards.

    Suits do not matter. Bucket = hole rank + num_ranks * (board ranks as digits, ascending within a street). Kuhn has 3
    buckets; Leduc has 3 and 9.

    Raises:
        PokernetsError: the game has more cards.
    """

    rules: Rules

    def __post_init__(self) -> None:
        """Check the number of cards."""
        if self.rules.num_hole_cards != 1 or self.rules.total_board_cards > 3:
            raise PokernetsError(
                f"game {self.rules.name}: lossless buckets need one hole card and at most three board cards;"
                f" for hold'em make an abstraction with: {COMMANDS['data_gen']} job=abstraction"
            )

    @cached_property
    def num_buckets(self) -> tuple[int, ...]:
        """[S] number of buckets on each street."""
        return tuple(self.rules.num_ranks ** (1 + size) for size in self.rules.board_sizes)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the ranks, suits and board cards."""
        rules = self.rules
        return fingerprint_of({"lossless": [rules.num_ranks, rules.num_suits, list(rules.board_cards)]})

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        """Return the bucket of every hand on a board.

        Args:
            board: the cards of one street's board.

        Returns:
            int32 [H] buckets, -1 where the hand shares a card with the board.

        Raises:
            CardError: no street of the game has this many board cards.
        """
        rules = self.rules
        if len(board) not in rules.board_sizes:
            raise CardError(f"a board of {rules.name} has {rules.board_sizes} cards, not {len(board)}")
        digits = [card // rules.num_suits for card in rules.ordered_board(tuple(board))]
        code = sum(digit * rules.num_ranks**i for i, digit in enumerate(digits))
        hole = np.arange(rules.deck_size, dtype=np.int32) // rules.num_suits
        out: NDArray[np.int32] = hole + np.int32(rules.num_ranks * code)
        out[list(board)] = -1
        return out


def is_holdem(rules: Rules) -> bool:
    """Return whether a game deals hold'em cards, at least on its first streets."""
    streets = rules.board_sizes == BOARD_SIZES[: rules.num_streets]
    return rules.deck_size == 52 and rules.num_suits == 4 and rules.num_hole_cards == 2 and streets
