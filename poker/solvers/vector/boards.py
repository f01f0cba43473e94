"""Boards of a vector game, street by street, with the live hands of both players on each.

Boards that suit permutations map to each other are merged, as far as the permutations leave the earlier cards and both
ranges unchanged. A class is dealt once with its multiplicity, and its values are averaged over each orbit of hands.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import hand_ranks
from poker.game.cards import card_space
from poker.game.rules import Rules
from poker.kernels.simd import LANES
from poker.kernels.types import Board, Singles
from poker.kernels.vector.arrays import Boards, HandLists
from poker.kernels.vector.boards import deal_hands, match_by_card, match_hands, sort_by_card
from poker.run.errors import PokernetsError

MAX_BOARDS = 60_000

Group = tuple[int, ...]
"""Indices of suit permutations."""


@dataclass(frozen=True)
class BoardSet:
    """All boards of a game.

    Attributes:
        boards: the boards in the form that kernels read.
        lists: live hands of each board.
        cards: all cards of each board.
        parent: int32 [B] the board of the street before.
        groups: suit permutations that leave each board, its earlier cards and the ranges unchanged.
        num_card_slots: number of card values, including private second cards of one-card hands.
    """

    boards: Boards
    lists: HandLists
    cards: tuple[Board, ...]
    parent: NDArray[np.int32]
    groups: tuple[Group, ...]
    num_card_slots: int


@dataclass(frozen=True)
class Deck:
    """Hands and suit permutations of a game's deck; permutation 0 is the identity.

    Attributes:
        hand_cards: uint8 [H, 2] cards of each hand. A hand of one card has a private second card.
        card_map: int64 [G, deck] image of each card under each permutation.
        hand_map: int64 [G, H] image of each hand.
    """

    hand_cards: NDArray[np.uint8]
    card_map: NDArray[np.int64]
    hand_map: NDArray[np.int64]


def deck_of(rules: Rules) -> Deck:
    """Return hands in index order and suit permutations in lexicographic order."""
    return _deck(rules.deck_size, rules.num_suits, rules.num_hole_cards)


@lru_cache(maxsize=8)
def _deck(size: int, num_suits: int, num_hole_cards: int) -> Deck:
    cards = np.arange(size)
    hand_cards = card_space(size, num_hole_cards).hand_cards
    suits = np.array(list(permutations(range(num_suits))))
    card_map = cards // num_suits * num_suits + suits[:, cards % num_suits]
    if num_hole_cards == 1:
        return Deck(np.stack([cards, size + cards], axis=1).astype(np.uint8), card_map, card_map)
    a, b = np.sort(card_map[:, hand_cards], axis=2).transpose(2, 0, 1)
    return Deck(hand_cards, card_map, b * (b - 1) // 2 + a)


def symmetries(rules: Rules, board: Board, ranges: Singles) -> Group:
    """Return the suit permutations that leave the board and both ranges unchanged.

    Args:
        board: [n] cards on the board.
        ranges: float32 [2, H] ranges.
    """
    deck, fixed = deck_of(rules), frozenset(board)
    keeps = [frozenset(images[list(board)].tolist()) == fixed for images in deck.card_map]
    return tuple(g for g, hands in enumerate(deck.hand_map) if keeps[g] and (ranges[:, hands] == ranges).all())


_Deal = tuple[Board, int, Group]
"""Cards of a class, its number of concrete deals, and the permutations that leave it unchanged."""


def deals(rules: Rules, board: Board, num_cards: int, group: Group) -> list[_Deal]:
    """List the classes of the next cards after a board.

    Args:
        board: [n] cards on the board.
        num_cards: number of cards to deal.
        group: suit permutations under which deals are equal.

    Returns:
        For each class its cards, the number of concrete deals in it, and the permutations that leave it unchanged.
    """
    rest = [card for card in range(rules.deck_size) if card not in board]
    if len(group) == 1:
        return [(cards, 1, group) for cards in combinations(rest, num_cards)]
    concrete = np.array(list(combinations(rest, num_cards)))
    images = np.sort(deck_of(rules).card_map[np.array(group)][:, concrete], axis=2)
    codes = images @ (rules.deck_size ** np.arange(num_cards)[::-1])
    least, multiplicity = np.unique(codes.min(axis=0), return_counts=True)
    rows = np.searchsorted(codes[group.index(0)], least)
    return [
        (tuple(concrete[row].tolist()), number, tuple(g for i, g in enumerate(group) if codes[i, row] == code))
        for row, code, number in zip(rows.tolist(), least.tolist(), multiplicity.tolist(), strict=True)
    ]


def final_ranks(rules: Rules, boards: list[Board]) -> NDArray[np.int16]:
    """Rank every hand on complete boards.

    Args:
        boards: complete boards.

    Returns:
        int16 [boards, H] strength; undefined for hands that share a card with the board.
    """
    if rules.deck_size == 52 and rules.num_hole_cards == 2 and len(boards[0]) >= 3:
        return np.stack([np.maximum(hand_ranks(rules, board), 0) for board in boards], dtype=np.int16, casting="unsafe")
    scores = np.stack([hand_ranks(rules, board) for board in boards])
    return np.unique(scores, return_inverse=True)[1].reshape(scores.shape).astype(np.int16)


class _Classes(NamedTuple):
    """Classes of boards, street by street: all cards, remaining permutations, probability and parent."""

    cards: list[Board]
    groups: list[Group]
    weights: list[float]
    parent: list[int]
    street_start: list[int]


class _Lists(NamedTuple):
    """Live hands of a player on the boards of a street; board b has `size[b]` entries from `start[b]` on."""

    hands: NDArray[np.uint16]
    up: NDArray[np.uint16]
    start: NDArray[np.int64]
    size: NDArray[np.int32]


def build_boards(
    rules: Rules,
    board: Board,
    first_street: int,
    last_street: int,
    ranges: Singles,
    group: Group,
    rivers: int | None = None,
) -> BoardSet:
    """Enumerate the boards of a game; the field `block` is still 0.

    Args:
        board: [n] cards on the board of the first street.
        first_street: street of the root.
        last_street: last street of the tree.
        ranges: float32 [2, H] ranges.
        group: suit permutations that leave the root unchanged.
        rivers: number of classes of the last street after each board before it; None for all.

    Raises:
        PokernetsError: there are too many boards.
    """
    classes = _classes(rules, board, first_street, last_street, group, rivers)
    windows = [slice(*classes.street_start[street : street + 2]) for street in range(first_street, last_street + 1)]
    ranks = [np.zeros((window.stop - window.start, 0), np.int16) for window in windows]
    if last_street == rules.num_streets - 1:
        ranks[-1] = final_ranks(rules, classes.cards[windows[-1]])
    live = ranges > 0
    owners = live[:1] if (live[0] == live[1]).all() else live
    sets = [_deal_streets(rules, classes, windows, ranks, owner) for owner in owners]
    hand, up, list_start, count = _joined(sets)
    child = np.searchsorted(classes.parent, np.arange(len(classes.cards) + 1)).astype(np.int32)
    deck, slots = deck_of(rules), rules.deck_size * (2 if rules.num_hole_cards == 1 else 1)
    symmetric = np.array([len(group) > 1 for group in classes.groups]) & (np.diff(child) > 0)
    same, less, upto, orbit = np.zeros((4, len(hand)), np.uint16)
    by_card = np.zeros(2 * len(hand), np.uint16)
    card_less, card_upto = np.zeros((2, 2 * len(hand)), np.uint8)
    card_start = np.zeros((2, len(classes.cards), slots + 1), np.uint16)
    for q in range(len(sets)):
        sort_by_card(deck.hand_cards, hand, list_start[q], count[q], card_start[q], by_card)
        for b in np.flatnonzero(symmetric):
            images = deck.hand_map[np.array(classes.groups[b])].min(axis=0)
            window = slice(list_start[q, b], list_start[q, b] + count[q, b])
            orbit[window] = np.unique(images[hand[window]], return_inverse=True)[1]
    if len(sets) == 1:
        card_start[1] = card_start[0]
    for q in range(len(sets)):
        theirs = len(sets) - 1 - q
        for window, strength in zip(windows, ranks, strict=True):
            own = hand, list_start[q, window], count[q, window]
            other = hand, list_start[theirs, window], count[theirs, window]
            match_hands(*own, *other, strength, rules.num_hands, same, less, upto)
        if ranks[-1].shape[1]:
            last = windows[-1]
            match_by_card(
                *(hand, list_start[q, last], card_start[q, last], by_card),
                *(hand, list_start[theirs, last], card_start[theirs, last], by_card),
                *(ranks[-1], card_less, card_upto),
            )
    boards = Boards(
        np.array(classes.street_start, np.int32),
        child,
        np.array(classes.weights, np.float32),
        symmetric,
        list_start,
        count,
        ((count + LANES - 1) // LANES * LANES).astype(np.int32),
        np.zeros(count.shape, np.int64),
    )
    card0, card1 = (np.ascontiguousarray(deck.hand_cards[hand, side]) for side in range(2))
    lists = HandLists(hand, up, card0, card1, same, less, upto, orbit, card_start, by_card, card_less, card_upto)
    parent = np.array(classes.parent, np.int32)
    return BoardSet(boards, lists, tuple(classes.cards), parent, tuple(classes.groups), slots)


def _classes(rules: Rules, board: Board, first: int, last: int, group: Group, rivers: int | None) -> _Classes:
    """Return the boards dealt from `board` under `group`."""
    classes = _Classes([board], [group], [1.0], [-1], [0] * (first + 1) + [1])
    rng = np.random.default_rng(board)
    for street in range(first + 1, last + 1):
        num_cards = rules.board_cards[street]
        orders = comb(rules.deck_size - rules.board_sizes[street - 1] - 2 * rules.num_hole_cards, num_cards)
        for b in range(*classes.street_start[-2:]):
            dealt, scale = deals(rules, classes.cards[b], num_cards, classes.groups[b]), 1 / orders
            if rivers is not None and street == last and rivers < len(dealt):
                scale *= sum(multiplicity for _, multiplicity, _ in dealt)
                dealt = choose_rivers(dealt, rivers, rng)
                scale /= sum(multiplicity for _, multiplicity, _ in dealt)
            for cards, multiplicity, left in dealt:
                classes.cards.append(classes.cards[b] + cards)
                classes.groups.append(left)
                classes.weights.append(multiplicity * scale)
                classes.parent.append(b)
            if len(classes.cards) > MAX_BOARDS:
                raise PokernetsError(
                    f"`{rules.name}` from board `{rules.cards_text(board)}` has more than {MAX_BOARDS} boards,"
                    " too many to solve exactly: start on a later street or set a depth limit"
                )
        classes.street_start.append(len(classes.cards))
    return classes


def choose_rivers(dealt: list[_Deal], number: int, rng: np.random.Generator) -> list[_Deal]:
    """Choose classes of rivers at random.

    The control at the ends of turns (`poker.solvers.vector.layout`) makes a better choice superfluous
    (docs/results/sampled_runouts).
    """
    return [dealt[row] for row in np.sort(rng.choice(len(dealt), number, replace=False)).tolist()]


def _deal_streets(
    rules: Rules, classes: _Classes, windows: list[slice], ranks: list[NDArray[np.int16]], live: NDArray[np.bool_]
) -> list[_Lists]:
    """Return one player's lists of each street, starting with the hands in `live` [H]."""
    masks, hands = rules.space.masks, np.flatnonzero(live).astype(np.uint16)
    above = _Lists(hands, hands, np.zeros(1, np.int64), np.array([len(hands)], np.int32))
    streets, seen, begin = [], len(classes.cards[0]), -1
    for window, strength in zip(windows, ranks, strict=True):
        rows = np.array(classes.parent[window]) - begin
        start, count = above.start[rows], above.size[rows]
        dealt = np.array([sum(1 << card for card in cards[seen:]) for cards in classes.cards[window]], np.uint64)
        hands, up, sizes = deal_hands(masks, above.hands, start, count, dealt, strength)
        above = _Lists(hands, up, np.cumsum(sizes, dtype=np.int64) - sizes, sizes)
        streets.append(above)
        seen, begin = len(classes.cards[window.start]), window.start
    return streets


def _joined(
    sets: list[list[_Lists]],
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.int64], NDArray[np.int32]]:
    """Return all hands and their places above in one array each, and start and length [2, B] of each board's list.

    With a single set of lists both players share it.
    """
    every = [lists for streets in sets for lists in streets]
    sizes = np.array([len(lists.hands) for lists in every])
    bases = np.split(np.cumsum(sizes) - sizes, len(sets))
    starts, counts = [], []
    for streets, base in zip(sets, bases, strict=True):
        starts.append(np.concatenate([at + lists.start for at, lists in zip(base, streets, strict=True)]))
        counts.append(np.concatenate([lists.size for lists in streets]))
    hand, up = (np.concatenate([lists[i] for lists in every]) for i in range(2))
    return hand, up, np.stack([starts[0], starts[-1]]), np.stack([counts[0], counts[-1]])
