"""Suit isomorphism: a dense index for sets of cards that are equal up to a renaming of suits.

After Waugh 2013, "A fast and optimal hand isomorphism algorithm". Cards come in rounds, e.g. (2, 3, 1, 1) for a hold'em
hand with its board; order within a round does not matter.

- Within one suit: its cards of each round are a combination of the ranks that earlier rounds left, so a mixed radix of
  colexicographic ranks numbers them, once the *signature* (cards of each round in the suit) is known.
- Across suits: signatures sorted downward are the *shape*; shapes have consecutive ranges of the index. Suits that
  share a signature are interchangeable, so their numbers form a multiset, numbered by the colexicographic rank of
  (x_1 + k - 1, x_2 + k - 2, ..., x_k) for x_1 >= ... >= x_k.

`canonical_board` is the same index for one round of 3, 4 or 5 cards, fast, with the suit permutation that turns the
board into the canonical one: tables [number of canonical boards, 1326] then serve every concrete board:
`table[index, HAND_PERMUTATION[permutation, hand]]`. All integers are int64. `canonical_board` and `canonical_key` are
also called from the kernels that deal boards, in other files: keep them stable, or clear numba's cache.
"""

import itertools
import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poker.kernels.cards.hands import (
    CARD_PERMUTATION,
    HAND_PERMUTATION,
    HANDS_WITH_CARD,
    NUM_HANDS,
    NUM_RANKS,
    SUIT_PERMUTATIONS,
)
from poker.kernels.registry import entry, kernel
from poker.kernels.types import I8, I16, I32, I64, U8

__all__ = [
    "CARD_PERMUTATION",
    "HAND_PERMUTATION",
    "NUM_BOARDS",
    "SuitIndexer",
    "board_multiplicities",
    "canonical_board",
    "canonical_boards",
    "gather_board",
    "index_cards",
    "unindex_cards",
]

NUM_BOARDS = {0: 1, 3: 1755, 4: 16432, 5: 134459}
"""Canonical boards by number of cards."""

_MAX_ROUNDS = 4
_MAX_PER_SUIT = 8


class IndexTables(NamedTuple):
    """What the kernels need to know of one tuple of rounds: R rounds, D signatures, S shapes."""

    rounds: I64  # [R] cards dealt in each round
    radix: I64  # [R] signature = sum of counts[r] * radix[r]
    suit_sizes: I64  # [D] sets of ranks with a signature
    shape_of: I64  # [D**3] shape by its three largest signatures, -1 where there is none
    shapes: I64  # [S, 4] signatures, descending
    offsets: I64  # [S + 1] first index of each shape; the last entry is the total


def _binomials() -> I64:
    return np.array([[math.comb(n, k) for k in range(_MAX_PER_SUIT)] for n in range(NUM_RANKS + 1)], dtype=np.int64)


_BINOMIAL: I64 = _binomials()
_POPCOUNT: I8 = np.array([i.bit_count() for i in range(8192)], dtype=np.int8)
_COLEX: I16 = np.array(
    [sum(math.comb(bit, i + 1) for i, bit in enumerate(b for b in range(13) if mask >> b & 1)) for mask in range(8192)],
    dtype=np.int16,
)
"""[8192] colexicographic rank of a rank mask among the masks of its size."""


@kernel
def _choose(n: int, k: int) -> int:
    """n over k for k <= 4, where n may be large."""
    if k == 1:
        return n
    if k == 2:
        return n * (n - 1) // 2
    if k == 3:
        return n * (n - 1) // 2 * (n - 2) // 3
    return n * (n - 1) // 2 * (n - 2) // 3 * (n - 3) // 4


@kernel
def _squeeze(mask: int, used: int) -> int:
    """The mask with the positions of `used` taken out."""
    out, position = 0, 0
    for rank in range(13):
        if not (used >> rank) & 1:
            out |= ((mask >> rank) & 1) << position
            position += 1
    return out


@kernel
def _spread(mask: int, used: int) -> int:
    """Inverse of `_squeeze`."""
    out, position = 0, 0
    for rank in range(13):
        if not (used >> rank) & 1:
            out |= ((mask >> position) & 1) << rank
            position += 1
    return out


@kernel
def _colex_mask(index: int, size: int) -> int:
    """The mask of `size` bits with a colexicographic rank."""
    mask = 0
    for k in range(size, 0, -1):
        rank = k - 1
        while rank < 12 and _BINOMIAL[rank + 1, k] <= index:
            rank += 1
        index -= _BINOMIAL[rank, k]
        mask |= 1 << rank
    return mask


@kernel
def index_cards(tables: IndexTables, cards: U8) -> int:
    """Index of different cards [total], the rounds one after the other."""
    signatures = np.zeros(4, dtype=np.int64)
    numbers = np.zeros(4, dtype=np.int64)
    used = np.zeros(4, dtype=np.int64)
    weights = np.ones(4, dtype=np.int64)
    masks = np.zeros(4, dtype=np.int64)
    start = 0
    for r in range(len(tables.rounds)):
        masks[:] = 0
        for card in cards[start : start + tables.rounds[r]]:
            masks[card & 3] |= 1 << (int(card) >> 2)
        start += tables.rounds[r]
        for suit in range(4):
            mask, taken = masks[suit], _POPCOUNT[used[suit]]
            count = _POPCOUNT[mask]
            signatures[suit] += count * tables.radix[r]
            numbers[suit] += _COLEX[_squeeze(mask, used[suit])] * weights[suit]
            weights[suit] *= _BINOMIAL[13 - taken, count]
            used[suit] |= mask
    for i in range(1, 4):
        for j in range(i, 0, -1):
            if (signatures[j], numbers[j]) <= (signatures[j - 1], numbers[j - 1]):
                break
            signatures[j], signatures[j - 1] = signatures[j - 1], signatures[j]
            numbers[j], numbers[j - 1] = numbers[j - 1], numbers[j]
    D = len(tables.suit_sizes)
    shape = tables.shape_of[(signatures[0] * D + signatures[1]) * D + signatures[2]]
    index, weight, first = tables.offsets[shape], 1, 0
    while first < 4:
        end = first + 1
        while end < 4 and signatures[end] == signatures[first]:
            end += 1
        size = end - first
        for k in range(size, 0, -1):
            index += weight * _choose(numbers[end - k] + k - 1, k)
        weight *= _choose(tables.suit_sizes[signatures[first]] + size - 1, size)
        first = end
    return int(index)


@kernel
def _multiset_top(index: int, k: int, size: int) -> int:
    """Largest y < size + k - 1 with y over k at most `index`."""
    low, high = k - 1, size + k - 1
    while high - low > 1:
        middle = (low + high) // 2
        if _choose(middle, k) <= index:
            low = middle
        else:
            high = middle
    return low


@kernel
def unindex_cards(tables: IndexTables, index: int, cards: U8) -> None:
    """Write the canonical cards [total] of an index; cards of a round ascend by suit, then rank."""
    shape = np.searchsorted(tables.offsets, index, side="right") - 1
    signatures = tables.shapes[shape]
    rest = index - tables.offsets[shape]
    masks = np.zeros((_MAX_ROUNDS, 4), dtype=np.int64)
    first = 0
    while first < 4:
        end = first + 1
        while end < 4 and signatures[end] == signatures[first]:
            end += 1
        size, suit_size = end - first, tables.suit_sizes[signatures[first]]
        group = _choose(suit_size + size - 1, size)
        number, rest = rest % group, rest // group
        for k in range(size, 0, -1):
            top = _multiset_top(number, k, suit_size)
            number -= _choose(top, k)
            _unindex_suit(tables, signatures[first], top - k + 1, masks[:, end - k])
        first = end
    position = 0
    for r in range(len(tables.rounds)):
        for suit in range(4):
            for rank in range(13):
                if (masks[r, suit] >> rank) & 1:
                    cards[position] = rank * 4 + suit
                    position += 1


@kernel
def _unindex_suit(tables: IndexTables, signature: int, number: int, masks: I64) -> None:
    """Rank masks by round of one suit, from its signature and number."""
    used, taken = 0, 0
    for r in range(len(tables.rounds)):
        count = signature // tables.radix[r] % (tables.rounds[r] + 1)
        size = _BINOMIAL[13 - taken, count]
        masks[r] = _spread(_colex_mask(number % size, count), used)
        number //= size
        used |= masks[r]
        taken += count


@entry("IndexTables(i8_1, i8_1, i8_1, i8_1, i8_2, i8_1), u1_2, i8_1")
def _index_rows(tables: IndexTables, cards: U8, out: I64) -> None:
    for i in range(len(cards)):
        out[i] = index_cards(tables, cards[i])


@entry("IndexTables(i8_1, i8_1, i8_1, i8_1, i8_2, i8_1), i8_1, u1_2")
def _unindex_rows(tables: IndexTables, indices: I64, out: U8) -> None:
    for i in range(len(indices)):
        unindex_cards(tables, indices[i], out[i])


def _make_tables(rounds: tuple[int, ...]) -> IndexTables:
    bases = [n + 1 for n in rounds]
    radix = [math.prod(bases[r + 1 :]) for r in range(len(rounds))]
    signatures = list(itertools.product(*(range(n + 1) for n in rounds)))
    D = len(signatures)
    sizes = [math.prod(math.comb(max(NUM_RANKS - sum(s[:r]), 0), s[r]) for r in range(len(rounds))) for s in signatures]
    shape_of = np.full(D**3, -1, dtype=np.int64)
    shapes: list[tuple[int, ...]] = []
    offsets = [0]
    ids = {s: i for i, s in enumerate(signatures)}
    for triple in itertools.combinations_with_replacement(range(D - 1, -1, -1), 3):
        counts = [signatures[i] for i in triple]
        last = tuple(n - sum(c[r] for c in counts) for r, n in enumerate(rounds))
        if ids.get(last, D) > triple[2]:
            continue
        shape = (*triple, ids[last])
        shape_of[(triple[0] * D + triple[1]) * D + triple[2]] = len(shapes)
        shapes.append(shape)
        groups = [(i, shape.count(i)) for i in sorted(set(shape), reverse=True)]
        offsets.append(offsets[-1] + math.prod(math.comb(sizes[i] + k - 1, k) for i, k in groups))
    return IndexTables(
        rounds=np.array(rounds, dtype=np.int64),
        radix=np.array(radix, dtype=np.int64),
        suit_sizes=np.array(sizes, dtype=np.int64),
        shape_of=shape_of,
        shapes=np.array(shapes, dtype=np.int64),
        offsets=np.array(offsets, dtype=np.int64),
    )


class SuitIndexer:
    """Index and unindex cards dealt in rounds, for at most four rounds and seven cards of a suit."""

    def __init__(self, rounds: tuple[int, ...]) -> None:
        if not 1 <= len(rounds) <= _MAX_ROUNDS or min(rounds) < 1 or sum(rounds) >= _MAX_PER_SUIT:
            raise ValueError(f"rounds {rounds}: one to four rounds of at least one card, seven cards in all")
        self.rounds = rounds
        self.num_cards = sum(rounds)
        self.tables = _make_tables(rounds)
        self.size = int(self.tables.offsets[-1])

    def index(self, cards: U8) -> I64:
        """[n] indices of cards [n, num_cards]."""
        out = np.empty(len(cards), dtype=np.int64)
        _index_rows(self.tables, cards, out)
        return out

    def unindex(self, indices: I64) -> U8:
        """[n, num_cards] canonical cards of indices [n]."""
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.size):
            raise ValueError(f"indices must lie in 0..{self.size - 1}")
        out = np.empty((len(indices), self.num_cards), dtype=np.uint8)
        _unindex_rows(self.tables, indices, out)
        return out


def _board_parts() -> tuple[I32, I64]:
    """Whatever the shape, the index of a board is a sum of one part for each suit, by the suit's own number: the parts
    of all boards of 3 to 5 cards, and where those of each suit begin, [6, 216, 4] by the size of the board and the
    counts of its three largest suits, as digits of base 6."""
    parts: list[list[int]] = []
    starts, used = np.zeros((6, 216, 4), dtype=np.int64), 0
    for n in (3, 4, 5):
        tables = _make_tables((n,))
        for shape, offset in zip(tables.shapes.tolist(), tables.offsets.tolist(), strict=False):
            weight = 1
            for suit, count in enumerate(shape):
                starts[n, (shape[0] * 6 + shape[1]) * 6 + shape[2], suit] = used
                size, equal = math.comb(NUM_RANKS, count), shape.count(count)
                left = equal - suit + shape.index(count)
                first = offset if suit == 0 else 0
                parts.append([first + weight * math.comb(x + left - 1, left) for x in range(size)])
                used += size
                if left == 1:
                    weight *= math.comb(size + equal - 1, equal)
    return np.array(list(itertools.chain(*parts)), dtype=np.int32), starts


def _permutation_ids() -> U8:
    """[256] number of a suit permutation by its images, two bits each."""
    out = np.zeros(256, dtype=np.uint8)
    for i, p in enumerate(SUIT_PERMUTATIONS.astype(np.int64)):
        out[p[0] | p[1] << 2 | p[2] << 4 | p[3] << 6] = i
    return out


_BOARD_PARTS, _PART_STARTS = _board_parts()
_PERMUTATION_IDS: U8 = _permutation_ids()
BOARD_KEYS: I64 = np.array([(1 << 13 | 1 << card // 4) << 16 * (card % 4) for card in range(52)], dtype=np.int64)
"""[52] what each card adds to the key of a board: 16 bits a suit, its count << 13 | rank mask."""


@entry("u1_1")
def canonical_board(cards: U8) -> tuple[int, int]:
    """(index, permutation) of a board of 0, 3, 4 or 5 cards in any order, as `SuitIndexer((n,))` counts boards.

    CARD_PERMUTATION[permutation] maps the board to the canonical one.
    """
    n = len(cards)
    if n == 0:
        return 0, 0
    key = 0
    for card in cards:
        key += BOARD_KEYS[card]
    return canonical_key(n, key)


@kernel
def canonical_key(n: int, key: int) -> tuple[int, int]:
    """`canonical_board` of n cards by the sum of their BOARD_KEYS."""
    k0, k1 = (key & 0xFFFF) << 2, (key >> 16 & 0xFFFF) << 2 | 1
    k2, k3 = (key >> 32 & 0xFFFF) << 2 | 2, (key >> 48 & 0xFFFF) << 2 | 3
    k0, k1 = max(k0, k1), min(k0, k1)
    k2, k3 = max(k2, k3), min(k2, k3)
    k0, k2 = max(k0, k2), min(k0, k2)
    k1, k3 = max(k1, k3), min(k1, k3)
    k1, k2 = max(k1, k2), min(k1, k2)
    permutation = (1 << 2 * (k1 & 3)) | (2 << 2 * (k2 & 3)) | (3 << 2 * (k3 & 3))
    start = _PART_STARTS[n, (k0 >> 15) * 36 + (k1 >> 15) * 6 + (k2 >> 15)]
    index = _BOARD_PARTS[start[0] + _COLEX[k0 >> 2 & 8191]]
    index += _BOARD_PARTS[start[1] + _COLEX[k1 >> 2 & 8191]]
    index += _BOARD_PARTS[start[2] + _COLEX[k2 >> 2 & 8191]]
    index += _BOARD_PARTS[start[3] + _COLEX[k3 >> 2 & 8191]]
    return int(index), int(_PERMUTATION_IDS[permutation])


@entry("u1_2r, u1_1, i4_1", "u2_2r, u1_1, i4_1")
def gather_board(table: I16, board: U8, out: I32) -> None:
    """out[h] = value of hand h on a concrete board, from a table [canonical boards, 1326]; blocked hands get -1."""
    index, permutation = canonical_board(board)
    row, image = table[index], HAND_PERMUTATION[permutation]
    for hand in range(NUM_HANDS):
        out[hand] = row[image[hand]]
    for card in board:
        for hand in HANDS_WITH_CARD[card]:
            out[hand] = -1


@lru_cache(maxsize=4)
def canonical_boards(num_cards: int) -> U8:
    """[NUM_BOARDS[n], n] one board per class, in index order; read-only."""
    if num_cards not in NUM_BOARDS:
        raise ValueError(f"a board has 0, 3, 4 or 5 cards, not {num_cards}")
    if num_cards == 0:
        return np.zeros((1, 0), dtype=np.uint8)
    indexer = SuitIndexer((num_cards,))
    boards = indexer.unindex(np.arange(indexer.size))
    boards.setflags(write=False)
    return boards


@lru_cache(maxsize=4)
def board_multiplicities(num_cards: int) -> I64:
    """[NUM_BOARDS[n]] concrete boards in each class; they sum to 52 over n."""
    boards = canonical_boards(num_cards)
    images = np.sort(CARD_PERMUTATION[:, boards], axis=2).astype(np.int64) @ (52 ** np.arange(num_cards))
    images = np.sort(images, axis=0)
    counts: I64 = 1 + (images[1:] != images[:-1]).sum(axis=0)
    counts.setflags(write=False)
    return counts
