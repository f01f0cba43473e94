"""History before a decision, as inputs: in the hand, and in the player's past. One row at a time for all users.

Rows are those of `poker.opponents.inputs.rows`. A job walks over all of them with `hand_rows` and `player_rows`; who
plays calls `hand_inputs`, `player_inputs` and `observe` for one decision: the same code, the same bits.

Symbols: n rows, S streets, X contexts (street * 3 + bets to call), C cells (situations in which deviations from a base
prediction are remembered), K cells that a row falls into, one of each way of cutting.
"""

from typing import NamedTuple

import numpy as np

from poker.kernels.registry import entry, kernel
from poker.kernels.types import F32, F64, I32, I64, U8

CONTEXTS, CLASSES = 12, 3

OWN_BETS, OTHER_BETS, OWN_CALLS, OTHER_CALLS = 0, 4, 8, 12
OWN_CHECKED, FOLDS, LAST_BET, PREVIOUS = 16, 20, 24, 28
OWN_CHECKS, OTHER_CHECKS, BETTOR_OWN, BETTOR_AFTER = 31, 32, 33, 34
BETTOR_DISTANCE, ROUNDS_SINCE_BET, CALLERS, SEAT = 35, 36, 37, 38
BOARD_SUITED, BOARD_PAIRS, BOARD_TRIPS, BOARD_HIGH, BOARD_RUN, BOARD_RUNS = 39, 40, 41, 42, 43, 44
CARD_OVER, CARD_PAIRS, CARD_THIRD, CARD_FOURTH, CARD_RANK = 45, 46, 47, 48, 49
LAST_SIZE, OWN_SIZE = 50, 51
HAND_INPUTS = 52

DEVIATION_INPUTS = 4
"""For each of the K ways of cutting: mean deviation of the three classes, and how much is known."""
SHRINKAGE = 5.0
DEVIATION_SHRINKAGE = 10.0


class Actions(NamedTuple):
    """Columns [n] of `poker.opponents.inputs.rows`; in no-limit actions above 2 are larger raises."""

    player: I32
    seat: U8
    street: U8
    action: U8
    bets: U8


class PlayerHistory(NamedTuple):
    """Record of a player: actions by context [X, 3]; in every cell the sum of (what was done - what was
    predicted) [C, 3] and of ones [C], in which the past fades."""

    counts: F64
    deviation: F64
    weight: F64


_ACTIONS, _MEMORY = "Actions(i4_1, u1_1, u1_1, u1_1, u1_1)", "PlayerHistory(f8_2, f8_2, f8_1)"


@entry(f"i8, i8, {_ACTIONS}, u1_1, f4_1")
def hand_inputs(first: int, row: int, actions: Actions, board: U8, out: F32) -> None:
    """Fill `out` [HAND_INPUTS], which is 0, for decision `row` of a hand, which began with row `first`; `board` [5]."""
    player, seat, street, action, bets = actions
    now = street[row]
    last_bet = -1
    callers = 0
    for past in range(first, row):
        other = player[past] != player[row]
        past_street = np.int64(street[past])
        if action[past] >= 2:
            out[(OTHER_BETS if other else OWN_BETS) + past_street] += 0.5
            out[LAST_SIZE] = (action[past] - 2) / 6
            if not other:
                out[OWN_SIZE] = out[LAST_SIZE]
            last_bet = past
            callers = 0
        elif action[past] == 0:
            out[FOLDS + past_street] += 0.25
        elif bets[past] > 0:
            out[(OTHER_CALLS if other else OWN_CALLS) + past_street] += 0.34
            callers += past_street == now
        else:
            if past_street == now:
                out[OTHER_CHECKS if other else OWN_CHECKS] += 0.34
            if not other:
                out[OWN_CHECKED + past_street] += 1
    if last_bet >= 0:
        out[LAST_BET + np.int64(street[last_bet])] = 1
        out[BETTOR_OWN] = player[last_bet] == player[row]
        distance = np.int64(seat[last_bet]) - np.int64(seat[row])
        out[BETTOR_DISTANCE] = distance / 10
        out[BETTOR_AFTER] = distance > 0
        out[ROUNDS_SINCE_BET] = np.int64(now) - np.int64(street[last_bet])
    if row > first:
        out[PREVIOUS + min(int(action[row - 1]), 2)] = 1
    out[CALLERS] = 0.34 * callers
    out[SEAT] = seat[row] / 10
    _board_inputs(board, out)


@kernel
def _board_inputs(board: U8, out: F32) -> None:
    ranks, suits = np.zeros(13, dtype=np.int64), np.zeros(4, dtype=np.int64)
    size = 0
    for card in board:
        if card < 52:
            ranks[card // 4] += 1
            suits[card % 4] += 1
            size += 1
    if size == 0:
        return
    out[BOARD_SUITED] = suits.max() / 5
    for rank in range(13):
        out[BOARD_PAIRS] += 0.5 * (ranks[rank] >= 2)
        out[BOARD_TRIPS] += ranks[rank] >= 3
        if ranks[rank]:
            out[BOARD_HIGH] = rank / 12
    for low in range(-1, 9):
        held = 0
        for rank in range(low, low + 5):
            held += ranks[(rank + 13) % 13] > 0
        out[BOARD_RUN] = max(out[BOARD_RUN], np.float32(held / 5))
        out[BOARD_RUNS] += 0.2 * (held >= 3)
    if size > 3:
        last = np.int64(board[size - 1])
        out[CARD_OVER] = ranks[last // 4 :].sum() == 1
        out[CARD_PAIRS] = ranks[last // 4] > 1
        out[CARD_THIRD] = suits[last % 4] == 3
        out[CARD_FOURTH] = suits[last % 4] >= 4
        out[CARD_RANK] = (last // 4) / 12


@entry(f"i4_1, {_ACTIONS}, u1_2")
def hand_rows(hand: I32, actions: Actions, board: U8) -> F32:
    """[n, HAND_INPUTS] of every row."""
    out = np.zeros((len(hand), HAND_INPUTS), dtype=np.float32)
    first = 0
    for row in range(len(hand)):
        if hand[row] != hand[first]:
            first = row
        hand_inputs(first, row, actions, board[row], out[row])
    return out


@entry(f"{_MEMORY}, f8_2, i8_1, f4_1")
def player_inputs(memory: PlayerHistory, prior: F64, cells: I64, out: F32) -> None:
    """Fill `out` [X * 3 + K * DEVIATION_INPUTS] for one player and a decision in `cells` [K].

    The player's frequencies are shrunk to `prior` [X, 3].
    """
    counts, deviation, weight = memory
    at = 0
    for context in range(CONTEXTS):
        total = counts[context].sum() + SHRINKAGE
        for k in range(CLASSES):
            out[at] = (counts[context, k] + SHRINKAGE * prior[context, k]) / total
            at += 1
    for cell in cells:
        for k in range(CLASSES):
            out[at + k] = deviation[cell, k] / (weight[cell] + DEVIATION_SHRINKAGE)
        out[at + CLASSES] = np.log1p(weight[cell]) / 5
        at += DEVIATION_INPUTS


@entry(f"{_MEMORY}, i8, i8_1, f4_1, i8, f8, f8_1")
def observe(
    memory: PlayerHistory, context: int, cells: I64, predicted: F32, action: int, decay: float, decays: F64
) -> None:
    """Remember that the player did `action` where `predicted` [3] was expected.

    Older memories fade by `decay` in the counts, by `decays` [K] in the cells.
    """
    counts, deviation, weight = memory
    for k in range(CLASSES):
        counts[context, k] = decay * counts[context, k] + (k == action)
    for cut in range(len(cells)):
        cell = cells[cut]
        for k in range(CLASSES):
            deviation[cell, k] = decays[cut] * deviation[cell, k] + ((k == action) - predicted[k])
        weight[cell] = decays[cut] * weight[cell] + 1


@entry("i4_1, u1_1, i8_1, i8_2, i8, f4_2, f8_2, f8, f8_1")
def player_rows(
    player: I32,
    action: U8,
    context: I64,
    cells: I64,
    num_cells: int,
    predicted: F32,
    prior: F64,
    decay: float,
    decays: F64,
) -> F32:
    """[n, X * 3 + K * DEVIATION_INPUTS] of every row, each from the rows before it; `cells` [n, K]."""
    players = player.max() + 1
    counts = np.zeros((players, CONTEXTS, CLASSES))
    deviation = np.zeros((players, num_cells, CLASSES))
    weight = np.zeros((players, num_cells))
    out = np.empty((len(player), CONTEXTS * CLASSES + cells.shape[1] * DEVIATION_INPUTS), dtype=np.float32)
    for row in range(len(player)):
        who = player[row]
        memory = PlayerHistory(counts[who], deviation[who], weight[who])
        player_inputs(memory, prior, cells[row], out[row])
        observe(memory, context[row], cells[row], predicted[row], min(int(action[row]), 2), decay, decays)
    return out
