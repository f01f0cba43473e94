"""Exact sizes, round trips and invariance of the suit-isomorphism index."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import (
    NUM_BOARDS,
    SuitIndexer,
    board_multiplicities,
    canonical_board,
    canonical_boards,
    gather_board,
)
from poker.kernels.cards.ranks import rank_board_hands

SIZES = {
    (2,): 169,
    (2, 3): 1286792,
    (2, 3, 1): 55190538,
    (2, 3, 1, 1): 2428287420,
    (2, 4): 13960050,
    (3,): 1755,
    (4,): 16432,
    (5,): 134459,
}
INDEXERS = {rounds: SuitIndexer(rounds) for rounds in SIZES}


@pytest.mark.parametrize("rounds", SIZES)
def test_size(rounds: tuple[int, ...]) -> None:
    assert INDEXERS[rounds].size == SIZES[rounds]


@pytest.mark.parametrize("rounds", [r for r, size in SIZES.items() if size < 2_000_000])
@pytest.mark.slow
def test_full_round_trip(rounds: tuple[int, ...]) -> None:
    indexer = INDEXERS[rounds]
    indices = np.arange(indexer.size)
    cards = indexer.unindex(indices)
    assert np.array_equal(indexer.index(cards), indices)
    ordered = np.sort(cards, axis=1)
    assert (ordered[:, 1:] > ordered[:, :-1]).all()


@pytest.mark.parametrize("rounds", [(2, 3, 1), (2, 3, 1, 1), (2, 4)])
def test_random_round_trip(rounds: tuple[int, ...]) -> None:
    indexer = INDEXERS[rounds]
    indices = np.random.default_rng(0).integers(0, indexer.size, 200_000)
    indices[:2] = 0, indexer.size - 1
    assert np.array_equal(indexer.index(indexer.unindex(indices)), indices)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(SIZES)),
    st.lists(st.integers(0, 51), min_size=7, max_size=7, unique=True),
    st.integers(0, 23),
    st.randoms(),
)
def test_index_is_constant_under_suit_permutation(
    rounds: tuple[int, ...], cards: list[int], permutation: int, random: Random
) -> None:
    """Renaming suits and reordering within rounds change nothing; unindexing gives a renaming of the same cards."""
    indexer = INDEXERS[rounds]
    image, start = [], 0
    for n in rounds:
        part = CARD_PERMUTATION[permutation, cards[start : start + n]].tolist()
        random.shuffle(part)
        image += part
        start += n
    both = np.array([cards[:start], image], dtype=np.uint8)
    first, second = indexer.index(both)
    assert first == second
    canonical = indexer.unindex(np.array([first]))[0]
    rounds_of = np.repeat(np.arange(len(rounds)), rounds)

    def coded(hand: np.ndarray) -> list[tuple[int, int]]:
        return sorted(zip(rounds_of.tolist(), hand.tolist(), strict=True))

    assert coded(canonical) in [coded(CARD_PERMUTATION[p, both[0]]) for p in range(24)]


def test_different_indices_for_different_classes() -> None:
    """Ah Kh on a flop of hearts, on one with two and on one with none are three classes."""
    hand = [50, 46]
    flops = [[2, 6, 10], [2, 6, 9], [1, 5, 9]]
    cards = np.array([hand + flop for flop in flops], dtype=np.uint8)
    assert len(set(INDEXERS[2, 3].index(cards).tolist())) == 3


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_boards_agree_with_the_general_indexer(num_cards: int) -> None:
    boards = canonical_boards(num_cards)
    assert len(boards) == NUM_BOARDS[num_cards]
    assert board_multiplicities(num_cards).sum() == math.comb(52, num_cards)
    rng = np.random.default_rng(num_cards)
    for index in rng.integers(0, len(boards), 1500):
        renamed = rng.permutation(CARD_PERMUTATION[rng.integers(24), boards[index]])
        found, permutation = canonical_board(renamed)
        assert found == index == INDEXERS[(num_cards,)].index(renamed[None])[0]
        assert sorted(CARD_PERMUTATION[permutation, renamed]) == sorted(boards[index])


def test_no_board_is_the_identity() -> None:
    assert canonical_board(np.zeros(0, dtype=np.uint8)) == (0, 0)
    assert np.array_equal(HAND_PERMUTATION[0], np.arange(NUM_HANDS))


def test_gather_serves_a_concrete_board_from_the_canonical_row() -> None:
    """Ranks of all hands, stored for canonical boards only, come back right for every renaming of a board."""
    table = np.full((NUM_BOARDS[3], NUM_HANDS), -7, dtype=np.int16)
    out = np.empty(NUM_HANDS, dtype=np.int32)
    boards = canonical_boards(3)
    rng = np.random.default_rng(1)
    for index in rng.integers(0, len(boards), 20):
        table[index] = rank_board_hands(boards[index])
        for permutation in range(24):
            board = CARD_PERMUTATION[permutation, boards[index]]
            gather_board(table, board, out)
            assert np.array_equal(out, rank_board_hands(board))
