"""The evaluator against exact category counts and against phevaluator."""

import itertools
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit, prange
from numpy.typing import NDArray

from poker.game.cards import HAND_CARDS, HOLDEM, parse_cards
from poker.kernels.cards import ranks
from poker.kernels.cards.hands import CARD_PERMUTATION
from tests.cases import cases

FIVE_CARD_CATEGORIES = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
SEVEN_CARD_CATEGORIES = [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584]


def random_hands(n: int, size: int, seed: int) -> NDArray[np.uint8]:
    """[n, size] different random cards a row, by drawing again where two coincide."""
    rng = np.random.default_rng(seed)
    hands = rng.integers(0, 52, size=(n, size), dtype=np.uint8)
    while True:
        ordered = np.sort(hands, axis=1)
        bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(bad):
            return hands
        hands[bad] = rng.integers(0, 52, size=(len(bad), size), dtype=np.uint8)


def rank(cards: Iterable[int]) -> int:
    return int(ranks.rank_hands(np.array([list(cards)], dtype=np.uint8))[0])


@njit(parallel=True)
def seven_card_ranks() -> NDArray[np.int64]:
    """[7462] how many of all seven-card hands have each rank; one thread for each highest pair of cards."""
    counts = np.zeros((1326, 7462), dtype=np.int64)
    for pair in prange(1326):
        a, b = HAND_CARDS[pair, 0], HAND_CARDS[pair, 1]
        board = np.empty(5, dtype=np.uint8)
        for c in range(a):
            for d in range(c):
                for e in range(d):
                    for f in range(e):
                        for g in range(f):
                            board[0], board[1], board[2], board[3], board[4] = c, d, e, f, g
                            counts[pair, ranks.rank_hand(ranks.board_key(board), a, b, board)] += 1
    total: NDArray[np.int64] = counts.sum(axis=0)
    return total


def test_all_five_card_hands() -> None:
    cards = np.array(list(itertools.combinations(range(52), 5)), dtype=np.uint8)
    counts = np.bincount(ranks.rank_hands(cards), minlength=ranks.NUM_CLASSES)
    assert counts.min() > 0
    assert np.add.reduceat(counts, ranks.CATEGORY_START).tolist() == FIVE_CARD_CATEGORIES


@pytest.mark.slow
def test_all_seven_card_hands() -> None:
    counts = seven_card_ranks()
    assert counts.sum() == 133784560
    assert np.add.reduceat(counts, ranks.CATEGORY_START).tolist() == SEVEN_CARD_CATEGORIES


@pytest.mark.parametrize(("size", "n"), [(7, 200_000), (6, 50_000), (5, 50_000)])
def test_agrees_with_phevaluator(size: int, n: int) -> None:
    """Same order and same ties: the map between the two numberings is one to one and decreasing."""
    evaluate = pytest.importorskip("phevaluator").evaluate_cards
    cards = random_hands(n, size, seed=size)
    ours = ranks.rank_hands(cards)
    theirs = np.fromiter((evaluate(*hand) for hand in cards.tolist()), dtype=np.int64, count=n)
    assert np.array_equal(7462 - theirs, ours)


@cases
def test_category_of_named_hands(text: str, category: str) -> None:
    assert ranks.category(rank(parse_cards(text))) == getattr(ranks, category)


def test_best_hand_has_the_highest_rank() -> None:
    assert rank(parse_cards("AhKhQhJhTh9h8h")) == ranks.NUM_CLASSES - 1
    assert rank(parse_cards("7c5d4c3c2c")) == 0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 51), min_size=7, max_size=7, unique=True), st.integers(0, 23))
def test_rank_ignores_names_of_suits_and_is_the_best_five_cards(cards: list[int], permutation: int) -> None:
    renamed = CARD_PERMUTATION[permutation, cards]
    assert rank(np.sort(renamed)) == rank(cards)
    assert rank(cards) == max(map(rank, itertools.combinations(cards, 5)))
    assert rank(cards[:6]) == max(map(rank, itertools.combinations(cards[:6], 5)))


@pytest.mark.parametrize("text", ["AhKhQh", "AhKh9c9d", "AhKhQhJhTh", "2c2d2h2s3c", "7c8c9dTdJh", "4h5h6h7cKh"])
def test_board_ranks_match_single_hands(text: str) -> None:
    board = np.array(parse_cards(text), dtype=np.uint8)
    all_ranks = ranks.rank_board_hands(board)
    live = HOLDEM.live(board)
    rows = np.concatenate([HAND_CARDS[live], np.tile(board, (live.sum(), 1))], axis=1)
    assert np.array_equal(all_ranks[live], ranks.rank_hands(rows))
    assert (all_ranks[~live] == -1).all()
