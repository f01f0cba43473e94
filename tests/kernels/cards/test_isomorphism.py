"""Exact sizes and invariance of the suit-isomorphism index."""

import itertools
import math

import numpy as np
import pytest

from poker.game.cards import card_text, parse_cards
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import (
    NUM_BOARDS,
    board_multiplicities,
    canonical_board,
    canonical_boards,
    gather_board,
)
from poker.kernels.cards.ranks import rank_board_hands

NUM_DEALS = {3: 1755, 4: 63193, 5: 2554656}
"""Classes of boards that distinguish turn and river from the flop, by number of cards."""


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_every_class_has_one_board(num_cards: int) -> None:
    boards = canonical_boards(num_cards)
    assert len(boards) == NUM_BOARDS[num_cards]
    assert board_multiplicities(num_cards).sum() == math.comb(52, num_cards)
    assert len(np.unique(np.sort(boards, axis=1), axis=0)) == len(boards)
    by_suit = boards % 4 * 13 + boards // 4
    assert (by_suit[:, 1:] > by_suit[:, :-1]).all()


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_the_index_is_constant_under_suit_permutation(num_cards: int) -> None:
    """Renaming suits and reordering cards change nothing; the permutation found leads to the canonical board."""
    boards = canonical_boards(num_cards)
    rng = np.random.default_rng(num_cards)
    for index in rng.integers(0, len(boards), 1500):
        renamed = rng.permutation(CARD_PERMUTATION[rng.integers(24), boards[index]])
        board, permutation = canonical_board(renamed)
        assert board == index
        assert sorted(CARD_PERMUTATION[permutation, renamed]) == sorted(boards[index])


def test_classes_are_numbered_shape_by_shape_and_by_the_ranks_of_each_suit() -> None:
    """Waugh's index: flops of one suit, of two, of three; the number of a mask is its colexicographic rank."""
    assert text(canonical_boards(3)[[0, 1, 285, 286]]) == ["2c3c4c", "2c3c5c", "QcKcAc", "2c3c2d"]
    rainbow = [canonical_board(np.array(parse_cards(each), np.uint8))[0] for each in ("2c2d2h", "3c2d2h", "AcAdAh")]
    assert rainbow == [286 + 1014, 286 + 1014 + 1, 1754]


def text(boards: np.ndarray) -> list[str]:
    return ["".join(map(card_text, board)) for board in boards.tolist()]


@pytest.mark.parametrize("num_cards", [4, 5])
def test_deals_are_counted_by_burnsides_lemma(num_cards: int) -> None:
    """Classes are the deals that each permutation of suits leaves alone, on average over permutations."""
    flops = np.array(list(itertools.combinations(range(52), 3)))
    fixed = 0
    for cards in CARD_PERMUTATION:
        fixed_flops = flops[(np.sort(cards[flops], axis=1) == flops).all(axis=1)]
        alone = cards == np.arange(52)
        left = alone.sum() - alone[fixed_flops].sum(axis=1)
        fixed += int(sum(math.perm(int(n), num_cards - 3) for n in left))
    assert fixed == 24 * NUM_DEALS[num_cards]


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
