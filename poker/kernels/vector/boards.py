"""Lists of live hands per board: dealt from the list of the board before, sorted by strength on the last street."""

import numpy as np

from poker.kernels.registry import entry
from poker.kernels.types import F32, F64, I16, I32, I64, U8, U16, U64


@entry("u8_1, u2_1, i8_1, i4_1, u8_1, i2_2")
def deal_hands(
    masks: U64, parent_hands: U16, parent_start: I64, parent_count: I32, dealt: U64, ranks: I16
) -> tuple[U16, U16, I32]:
    """Live hands of each board b, those of its parent's list that share no card with `dealt[b]`, board after board;
    their places in the parent's list; how many each board has.

    `ranks` [boards, H] sorts each list by strength, ascending and stable; [boards, 0] keeps the parent's order.
    """
    ranked = ranks.shape[1] > 0
    top = ranks.max() if ranked else 0
    where = np.zeros(top + 2, np.int64)
    hands, up = np.empty(parent_count.sum(), np.uint16), np.empty(parent_count.sum(), np.uint16)
    count, start = np.zeros(len(dealt), np.int32), 0
    for b in range(len(dealt)):
        first, last = parent_start[b], parent_start[b] + parent_count[b]
        where[:] = 0
        for i in range(first, last):
            hand = parent_hands[i]
            if masks[hand] & dealt[b] == 0:
                where[ranks[b, hand] + 1 if ranked else 1] += 1
                count[b] += 1
        for r in range(top + 1):
            where[r + 1] += where[r]
        for i in range(first, last):
            hand = parent_hands[i]
            if masks[hand] & dealt[b] == 0:
                rank = ranks[b, hand] if ranked else 0
                hands[start + where[rank]] = hand
                up[start + where[rank]] = i - first
                where[rank] += 1
        start += count[b]
    return hands[:start], up[:start], count


@entry("u2_1, i8_1, i4_1, u2_1, i8_1, i4_1, i2_2, i8, u2_1, u2_1, u2_1")
def match_hands(
    own_hands: U16,
    own_start: I64,
    own_count: I32,
    opp_hands: U16,
    opp_start: I64,
    opp_count: I32,
    ranks: I16,
    num_hands: int,
    same: U16,
    less: U16,
    upto: U16,
) -> None:
    """For each own hand on each board: its place in the opponent's list (their count if it is not there), and how many
    of the opponent's hands are weaker, and weaker or equal (with `ranks` as in `deal_hands`)."""
    place = np.empty(num_hands, np.int64)
    for b in range(len(own_start)):
        theirs = opp_count[b]
        place[:] = theirs
        for j in range(theirs):
            place[opp_hands[opp_start[b] + j]] = j
        weaker = 0
        not_stronger = 0
        for i in range(own_start[b], own_start[b] + own_count[b]):
            same[i] = place[own_hands[i]]
            if ranks.shape[1] > 0:
                rank = ranks[b, own_hands[i]]
                while weaker < theirs and ranks[b, opp_hands[opp_start[b] + weaker]] < rank:
                    weaker += 1
                while not_stronger < theirs and ranks[b, opp_hands[opp_start[b] + not_stronger]] <= rank:
                    not_stronger += 1
                less[i] = weaker
                upto[i] = not_stronger


@entry("u1_2, u2_1, i8_1, i4_1, u2_2, u2_1")
def sort_by_card(cards: U8, hands: U16, start: I64, count: I32, card_start: U16, by_card: U16) -> None:
    """Per board b the places of the hands that hold each card c, in list order: by_card[2 * start[b] + k] for k from
    card_start[b, c] to card_start[b, c + 1]. `cards` [H, 2] are the cards of every hand."""
    slots = card_start.shape[1] - 1
    fill = np.zeros(slots, np.int64)
    for b in range(len(start)):
        fill[:] = 0
        for i in range(start[b], start[b] + count[b]):
            fill[cards[hands[i], 0]] += 1
            fill[cards[hands[i], 1]] += 1
        at = 0
        for c in range(slots):
            card_start[b, c] = at
            at += fill[c]
            fill[c] = card_start[b, c]
        card_start[b, slots] = at
        for i in range(count[b]):
            for side in range(2):
                card = cards[hands[start[b] + i], side]
                by_card[2 * start[b] + fill[card]] = i
                fill[card] += 1


@entry("u2_1, i8_1, u2_2, u2_1, u2_1, i8_1, u2_2, u2_1, i2_2, u1_1, u1_1")
def match_by_card(
    hands: U16,
    start: I64,
    card_start: U16,
    by_card: U16,
    opp_hands: U16,
    opp_start: I64,
    opp_card_start: U16,
    opp_by_card: U16,
    ranks: I16,
    card_less: U8,
    card_upto: U8,
) -> None:
    """For each entry of `by_card`: how many of the opponent's hands with the same card are weaker, weaker or equal."""
    for b in range(len(start)):
        for c in range(card_start.shape[1] - 1):
            first, last = opp_card_start[b, c], opp_card_start[b, c + 1]
            weaker = first
            not_stronger = first
            for k in range(card_start[b, c], card_start[b, c + 1]):
                rank = ranks[b, hands[start[b] + by_card[2 * start[b] + k]]]
                while (
                    weaker < last and ranks[b, opp_hands[opp_start[b] + opp_by_card[2 * opp_start[b] + weaker]]] < rank
                ):
                    weaker += 1
                while (
                    not_stronger < last
                    and ranks[b, opp_hands[opp_start[b] + opp_by_card[2 * opp_start[b] + not_stronger]]] <= rank
                ):
                    not_stronger += 1
                card_less[2 * start[b] + k] = weaker - first
                card_upto[2 * start[b] + k] = not_stronger - first


@entry("u8_1, u2_1, u2_1, u8_1, i2_2, i2_1, i2_2")
def runout_matrix(masks: U64, hands0: U16, hands1: U16, dealt: U64, ranks: I16, weights: I16, matrix: I16) -> None:
    """matrix[j, i] = weight of final boards on which hand i of player 0 beats hand j of player 1, less of the reverse.

    `dealt` [R] are the cards still to come of each final board, `ranks` [R, H] the strengths, `weights` [R] those of
    boards; boards that take a card of either hand, and hands that share a card, do not count. Columns beyond the hands
    of player 0 stay 0.
    """
    width = len(hands0)
    high, low = np.empty(width, np.int16), np.empty(width, np.int16)
    for r in range(len(dealt)):
        for i in range(width):
            live = masks[hands0[i]] & dealt[r] == 0
            high[i] = ranks[r, hands0[i]] if live else -1
            low[i] = ranks[r, hands0[i]] if live else 32767
        for j in range(len(hands1)):
            if masks[hands1[j]] & dealt[r] != 0:
                continue
            rank, weight = ranks[r, hands1[j]], weights[r]
            row = matrix[j]
            for i in range(width):
                row[i] += weight * (np.int16(high[i] > rank) - np.int16(low[i] < rank))
    for j in range(len(hands1)):
        for i in range(width):
            if masks[hands0[i]] & masks[hands1[j]] != 0:
                matrix[j, i] = 0


@entry("f4_1, i8_1, i4_1, u2_1, i8_1, i4_1, f8_3, f4_3")
def put_rows(
    out: F32, start: I64, padded: I32, hands: U16, list_start: I64, size: I32, weights: F64, going: F32
) -> None:
    """Writes weights [B, H, A] of the actions of a node into its rows on B boards, from start[b] on, and into going
    [A, B, H] for the hands of each board's list."""
    for b in range(len(start)):
        for i in range(size[b]):
            hand = hands[list_start[b] + i]
            for a in range(weights.shape[2]):
                weight = np.float32(weights[b, hand, a])
                out[start[b] + a * padded[b] + i] = weight
                going[a, b, hand] = weight
