"""Boards of a vector game, street by street, with the live hands of both players on each.

Boards that suit permutations turn into each other are merged, as far as the permutations leave the cards before and
both ranges alone: a class is dealt once with its multiplicity, and what it yields is averaged over each orbit of hands.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import hand_ranks
from poker.errors import PokernetsError
from poker.kernels.simd import LANES
from poker.kernels.vector.arrays import Boards, HandLists
from poker.kernels.vector.boards import count_live, deal_hands, match_by_card, match_hands, sort_by_card
from poker.rules import Rules

MAX_BOARDS = 60_000


@dataclass(frozen=True)
class BoardSet:
    """Boards for the kernels, and what they are: `cards[b]` all board cards, `parent[b]`, `groups[b]` the suit
    permutations that leave everything so far alone."""

    boards: Boards
    lists: HandLists
    cards: tuple[tuple[int, ...], ...]
    parent: NDArray[np.int32]
    groups: tuple[tuple[int, ...], ...]
    num_card_slots: int


@dataclass(frozen=True)
class Deck:
    """Hands and suit permutations of a game's deck: `card_map` [G, deck], `hand_map` [G, H]; permutation 0 is none.

    `hand_cards` [H, 2] as in `Rules.space`, but a hand of one card gets a private second one.
    """

    hand_cards: NDArray[np.uint8]
    card_map: NDArray[np.int64]
    hand_map: NDArray[np.int64]


@lru_cache(maxsize=8)
def deck_of(rules: Rules) -> Deck:
    """Hands in index order, suit permutations in lexicographic order."""
    size = rules.deck_size
    cards = np.arange(size)
    hand_cards = rules.space.hand_cards
    suits = np.array(list(permutations(range(rules.num_suits))))
    card_map = cards // rules.num_suits * rules.num_suits + suits[:, cards % rules.num_suits]
    if rules.num_hole_cards == 1:
        return Deck(np.stack([cards, size + cards], axis=1).astype(np.uint8), card_map, card_map)
    a, b = np.sort(card_map[:, hand_cards], axis=2).transpose(2, 0, 1)
    return Deck(hand_cards, card_map, b * (b - 1) // 2 + a)


def symmetries(rules: Rules, board: tuple[int, ...], ranges: NDArray[np.float32]) -> tuple[int, ...]:
    """Suit permutations that leave the board and both ranges alone."""
    deck = deck_of(rules)
    fixed = frozenset(board)
    kept = []
    for g in range(len(deck.card_map)):
        if frozenset(deck.card_map[g, list(board)].tolist()) == fixed and (ranges[:, deck.hand_map[g]] == ranges).all():
            kept.append(g)
    return tuple(kept)


@dataclass(frozen=True)
class Deal:
    """One class of deals: its cards, how many concrete deals it stands for, and the permutations that keep it."""

    cards: tuple[int, ...]
    multiplicity: int
    group: tuple[int, ...]


def deals(rules: Rules, board: tuple[int, ...], num_cards: int, group: tuple[int, ...]) -> list[Deal]:
    """Classes of the next `num_cards` cards after `board` under `group`."""
    rest = [card for card in range(rules.deck_size) if card not in board]
    if len(group) == 1:
        return [Deal(cards, 1, group) for cards in combinations(rest, num_cards)]
    deck = deck_of(rules)
    concrete = np.array(list(combinations(rest, num_cards)))
    images = np.sort(deck.card_map[np.array(group)][:, concrete], axis=2)
    codes = images @ (rules.deck_size ** np.arange(num_cards)[::-1])
    own = codes[group.index(0)]
    representative = codes.min(axis=0)
    kept, multiplicity = np.unique(representative, return_counts=True)
    row_of = {int(code): i for i, code in enumerate(own)}
    found = []
    for code, number in zip(kept.tolist(), multiplicity.tolist(), strict=True):
        row = row_of[code]
        stabiliser = tuple(g for i, g in enumerate(group) if codes[i, row] == code)
        found.append(Deal(tuple(int(card) for card in concrete[row]), number, stabiliser))
    return found


def final_ranks(rules: Rules, boards: list[tuple[int, ...]]) -> NDArray[np.int16]:
    """int16[boards, H]: strength of every hand; what blocked hands get is not defined."""
    if rules.deck_size == 52 and rules.num_hole_cards == 2 and len(boards[0]) >= 3:
        return np.stack([np.maximum(hand_ranks(rules, board), 0) for board in boards], dtype=np.int16, casting="unsafe")
    scores = np.stack([hand_ranks(rules, board) for board in boards])
    return np.unique(scores, return_inverse=True)[1].reshape(scores.shape).astype(np.int16)


def build_boards(
    rules: Rules,
    board: tuple[int, ...],
    first_street: int,
    last_street: int,
    ranges: NDArray[np.float32],
    group: tuple[int, ...],
) -> BoardSet:
    """All boards from `board` on `first_street` to `last_street`; blocks are still 0."""
    return _BoardBuilder(rules, ranges).build(board, first_street, last_street, group)


class _BoardBuilder:
    def __init__(self, rules: Rules, ranges: NDArray[np.float32]) -> None:
        self.rules = rules
        self.deck = deck_of(rules)
        self.masks = rules.space.masks
        live = ranges > 0
        self.shared = bool((live[0] == live[1]).all())
        self.live = live
        self.hands: list[list[NDArray[np.uint16]]] = [[], []]
        self.up: list[list[NDArray[np.uint16]]] = [[], []]
        self.starts: list[list[NDArray[np.int64]]] = [[], []]
        self.counts: list[list[NDArray[np.int32]]] = [[], []]
        self.ranks: list[NDArray[np.int16]] = []
        self.length = 0

    @property
    def sets(self) -> range:
        return range(1 if self.shared else 2)

    def build(self, board: tuple[int, ...], first: int, last: int, group: tuple[int, ...]) -> BoardSet:
        rules = self.rules
        cards: list[tuple[int, ...]] = [board]
        groups = [group]
        weights = [1.0]
        parent = [-1]
        child_start = [1]
        street_start = [0] * (first + 1) + [1]
        self._add_street(self._ranked(first, [board]), None, None, [0])
        begin = 0
        for street in range(first + 1, last + 1):
            end = len(cards)
            num_cards = rules.board_cards[street]
            seen = rules.board_sizes[street - 1]
            orders = comb(rules.deck_size - seen - 2 * rules.num_hole_cards, num_cards)
            dealt = []
            for b in range(begin, end):
                for deal in deals(rules, cards[b], num_cards, groups[b]):
                    cards.append(cards[b] + deal.cards)
                    groups.append(deal.group)
                    weights.append(deal.multiplicity / orders)
                    parent.append(b)
                    dealt.append(deal.cards)
                child_start.append(len(cards))
                if len(cards) > MAX_BOARDS:
                    raise PokernetsError(
                        f"`{rules.name}` from board `{rules.cards_text(board)}` has more than {MAX_BOARDS} boards,"
                        " too many to solve exactly: start on a later street or set a depth limit"
                    )
            self._add_street(self._ranked(street, cards[end:]), parent[end:], dealt, [begin, end])
            begin = end
            street_start.append(len(cards))
        child_start += [len(cards)] * (len(cards) + 1 - len(child_start))
        return self._finish(cards, groups, weights, parent, child_start, street_start)

    def _ranked(self, street: int, boards: list[tuple[int, ...]]) -> NDArray[np.int16]:
        if street == self.rules.num_streets - 1:
            return final_ranks(self.rules, boards)
        return np.zeros((len(boards), 0), np.int16)

    def _add_street(
        self,
        ranks: NDArray[np.int16],
        parents: list[int] | None,
        dealt: list[tuple[int, ...]] | None,
        street: list[int],
    ) -> None:
        self.ranks.append(ranks)
        for q in self.sets:
            if parents is None or dealt is None:
                hands = np.flatnonzero(self.live[q]).astype(np.uint16)
                source_start, source_count = np.zeros(1, np.int64), np.array([len(hands)], np.int32)
                blocked = np.zeros(1, np.uint64)
            else:
                rows = np.array(parents) - street[0]
                hands = self.hands[q][-1]
                source_start, source_count = self.starts[q][-1][rows], self.counts[q][-1][rows]
                blocked = np.array([sum(1 << card for card in cards) for cards in dealt], np.uint64)
            count = count_live(self.masks, hands, source_start, source_count, blocked)
            start = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64)
            out, up = np.empty((2, int(count.sum())), np.uint16)
            deal_hands(self.masks, hands, source_start, source_count, blocked, ranks, start, out, up)
            self.hands[q].append(out)
            self.up[q].append(up)
            self.starts[q].append(start)
            self.counts[q].append(count)

    def _finish(
        self,
        cards: list[tuple[int, ...]],
        groups: list[tuple[int, ...]],
        weights: list[float],
        parent: list[int],
        child_start: list[int],
        street_start: list[int],
    ) -> BoardSet:
        total = sum(len(hands) for q in self.sets for hands in self.hands[q])
        same, less, upto = np.zeros((3, total), np.uint16)
        list_start = np.zeros((2, len(cards)), np.int64)
        count = np.zeros((2, len(cards)), np.int32)
        base = [[0] * len(self.ranks) for _ in range(2)]
        at = 0
        for q in self.sets:
            for s, hands in enumerate(self.hands[q]):
                base[q][s] = at
                at += len(hands)
        for q in range(2):
            mine, theirs = (0, 0) if self.shared else (q, 1 - q)
            offset = 0
            for s, ranks in enumerate(self.ranks):
                boards = len(ranks)
                list_start[q, offset : offset + boards] = base[mine][s] + self.starts[mine][s]
                count[q, offset : offset + boards] = self.counts[mine][s]
                offset += boards
                if q in self.sets:
                    window = slice(base[q][s], base[q][s] + len(self.hands[q][s]))
                    match_hands(
                        self.hands[mine][s],
                        self.starts[mine][s],
                        self.counts[mine][s],
                        self.hands[theirs][s],
                        self.starts[theirs][s],
                        self.counts[theirs][s],
                        ranks,
                        self.rules.num_hands,
                        same[window],
                        less[window],
                        upto[window],
                    )
        hand = np.concatenate([hands for q in self.sets for hands in self.hands[q]])
        up = np.concatenate([rows for q in self.sets for rows in self.up[q]])
        child = np.array(child_start, np.int32)
        symmetric = np.array([len(group) > 1 for group in groups]) & (np.diff(child) > 0)
        orbit = np.zeros(total, np.uint16)
        for b in np.flatnonzero(symmetric):
            images = self.deck.hand_map[np.array(groups[b])].min(axis=0)
            for q in self.sets:
                window = slice(list_start[q, b], list_start[q, b] + count[q, b])
                orbit[window] = np.unique(images[hand[window]], return_inverse=True)[1]
        slots = self.rules.deck_size * (2 if self.rules.num_hole_cards == 1 else 1)
        by_card = np.zeros(2 * total, np.uint16)
        card_less, card_upto = np.zeros((2, 2 * total), np.uint8)
        card_start = np.zeros((2, len(cards), slots + 1), np.uint16)
        for q in self.sets:
            sort_by_card(self.deck.hand_cards, hand, list_start[q], count[q], card_start[q], by_card)
        if self.shared:
            card_start[1] = card_start[0]
        ranks = self.ranks[-1]
        if ranks.shape[1]:
            final = slice(len(cards) - len(ranks), len(cards))
            for q in self.sets:
                theirs = q if self.shared else 1 - q
                match_by_card(
                    hand,
                    list_start[q, final],
                    card_start[q, final],
                    by_card,
                    hand,
                    list_start[theirs, final],
                    card_start[theirs, final],
                    by_card,
                    ranks,
                    card_less,
                    card_upto,
                )
        boards_tuple = Boards(
            np.array(street_start, np.int32),
            child,
            np.array(weights, np.float32),
            symmetric,
            list_start,
            count,
            ((count + LANES - 1) // LANES * LANES).astype(np.int32),
            np.zeros((2, len(cards)), np.int64),
        )
        lists = HandLists(
            hand,
            up,
            np.ascontiguousarray(self.deck.hand_cards[hand, 0]),
            np.ascontiguousarray(self.deck.hand_cards[hand, 1]),
            same,
            less,
            upto,
            orbit,
            card_start,
            by_card,
            card_less,
            card_upto,
        )
        return BoardSet(boards_tuple, lists, tuple(cards), np.array(parent, np.int32), tuple(groups), slots)
