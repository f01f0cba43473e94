"""Lists of live hands per board, dealt from the list of the board before and sorted by strength on the last street."""

import numpy as np

from poker.kernels.registry import entry
from poker.kernels.types import F32, F64, I16, I32, I64, U8, U16, U64


@entry("u8_1, u2_1, i8_1, i4_1, u8_1, i2_2")
def deal_hands(
    masks: U64, parent_hands: U16, parent_start: I64, parent_count: I32, dealt: U64, ranks: I16
) -> tuple[U16, U16, I32]:
    """List the live hands of several boards.

    Args:
        masks: uint64 [H] cards of each hand as bits.
        parent_hands: uint16 [n] hands of the lists of the street before.
        parent_start: int64 [B] start of the parent's list of each board.
        parent_count: int32 [B] length of that list.
        dealt: uint64 [B] new cards of each board as bits.
        ranks: int16 [B, H] strength by which each list is sorted, ascending and stable; [B, 0] keeps the parent's
            order.

    Returns:
        Hands board after board (uint16), their places in the parent's list (uint16), and the number of each board's
        hands (int32 [B]).
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
    """Compare each own hand with the opponent's list on each board.

    Args:
        own_hands: uint16 [n] own hands.
        own_start: int64 [B] start of each board's own list.
        own_count: int32 [B] length of each board's own list.
        opp_hands: uint16 [m] hands of the opponent.
        opp_start: int64 [B] start of each board's list.
        opp_count: int32 [B] length of each board's list.
        ranks: int16 [B, H] strength as in `deal_hands`.
        num_hands: number of hands H.
        same: uint16 [n] receives the place in the opponent's list, or its length if the hand is not there.
        less: uint16 [n] receives the number of weaker hands of the opponent.
        upto: uint16 [n] receives the number of weaker or equal hands of the opponent.
    """
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
    """List the places of the hands that contain each card, in list order.

    The places for board b and card c are by_card[2 * start[b] + k] for k from card_start[b, c] to card_start[b, c + 1].

    Args:
        cards: uint8 [H, 2] cards of every hand.
        hands: uint16 [n] hands of all boards.
        start: int64 [B] start of each board's list.
        count: int32 [B] length of each board's list.
        card_start: uint16 [B, cards + 1] receives the starts.
        by_card: uint16 [2 n] receives the places.
    """
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
    """Count the opponent's weaker hands with the same card, for each entry of `by_card`.

    Args:
        hands: uint16 [n] own hands.
        start: int64 [B] start of each board's own list.
        card_start: uint16 [B, cards + 1] starts of own cards.
        by_card: uint16 [2 n] own places by card.
        opp_hands: uint16 [m] hands of the opponent.
        opp_start: int64 [B] start of each board's list.
        opp_card_start: uint16 [B, cards + 1] starts of the opponent's cards.
        opp_by_card: uint16 [2 m] the opponent's places by card.
        ranks: int16 [B, H] strength as in `deal_hands`.
        card_less: uint8 [2 n] receives the number of weaker hands.
        card_upto: uint8 [2 n] receives the number of weaker or equal hands.
    """
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
    """Sum the weights of final boards on which a hand of player 0 beats a hand of player 1, minus the reverse.

    Final boards that share a card with either hand, and hands that share a card, do not count. Columns beyond the hands
    of player 0 stay 0.

    Args:
        masks: uint64 [H] cards of each hand as bits.
        hands0: uint16 [n] hands of player 0.
        hands1: uint16 [m] hands of player 1.
        dealt: uint64 [R] cards still to come on each final board, as bits.
        ranks: int16 [R, H] strength on each final board.
        weights: int16 [R] weight of each final board.
        matrix: int16 [m, n padded] receives the sums.
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
    """Write the action weights of a node on several boards into its rows.

    Args:
        out: float32 [entries] array in the layout of the game.
        start: int64 [B] start of the node's rows on each board.
        padded: int32 [B] padded number of hands.
        hands: uint16 [n] hands of the lists.
        list_start: int64 [B] start of each board's list.
        size: int32 [B] length of each board's list.
        weights: float64 [B, H, A] weights of the actions.
        going: float32 [A, B, H] receives the weights of listed hands.
    """
    for b in range(len(start)):
        for i in range(size[b]):
            hand = hands[list_start[b] + i]
            for a in range(weights.shape[2]):
                weight = np.float32(weights[b, hand, a])
                out[start[b] + a * padded[b] + i] = weight
                going[a, b, hand] = weight
