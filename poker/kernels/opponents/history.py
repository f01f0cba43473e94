"""Inputs about the history before a decision: in the hand, and in the player's past.

Rows are defined in `poker.opponents.inputs.rows`. A job computes all of them with `hand_rows` and `player_rows`. An
agent calls `hand_inputs`, `player_inputs` and `observe` for one decision. Both use the same code and give the same
bits.

n is the number of rows, S of streets, X of contexts (street * 3 + bets to call), C of cells (situations in which
deviations from a base prediction are recorded), and K of cells that a row falls into, one for each partition.
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
"""Inputs for each of the K partitions: mean deviation of the three classes, and the weight of the evidence."""
SHRINKAGE = 5.0
DEVIATION_SHRINKAGE = 10.0


class Actions(NamedTuple):
    """Columns of `poker.opponents.inputs.rows`; in no-limit data actions above 2 are larger raises.

    Attributes:
        player: int32 [n] player.
        seat: uint8 [n] seat.
        street: uint8 [n] street.
        action: uint8 [n] class of the action.
        bets: uint8 [n] bets to call.
    """

    player: I32
    seat: U8
    street: U8
    action: U8
    bets: U8


class PlayerHistory(NamedTuple):
    """The record of a player, in which older observations decay.

    Attributes:
        counts: float64 [X, 3] actions by context.
        deviation: float64 [C, 3] sum over decisions in each cell of (observed action - prediction).
        weight: float64 [C] sum of ones in each cell.
    """

    counts: F64
    deviation: F64
    weight: F64


_ACTIONS, _MEMORY = "Actions(i4_1, u1_1, u1_1, u1_1, u1_1)", "PlayerHistory(f8_2, f8_2, f8_1)"


@entry(f"i8, i8, {_ACTIONS}, u1_1, f4_1")
def hand_inputs(first: int, row: int, actions: Actions, board: U8, out: F32) -> None:
    """Compute the inputs about the hand so far for one decision.

    Args:
        first: first row of the hand.
        row: row of the decision.
        actions: all rows [n].
        board: uint8 [5] cards on the board.
        out: float32 [HAND_INPUTS] zeros, which receive the inputs.
    """
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
    """Compute the inputs about the hand so far for every row.

    Args:
        hand: int32 [n] hand of each row.
        actions: all rows [n].
        board: uint8 [n, 5] cards on the board.

    Returns:
        float32 [n, HAND_INPUTS].
    """
    out = np.zeros((len(hand), HAND_INPUTS), dtype=np.float32)
    first = 0
    for row in range(len(hand)):
        if hand[row] != hand[first]:
            first = row
        hand_inputs(first, row, actions, board[row], out[row])
    return out


@entry(f"{_MEMORY}, f8_2, i8_1, f4_1")
def player_inputs(memory: PlayerHistory, prior: F64, cells: I64, out: F32) -> None:
    """Compute the inputs about a player's past for one decision.

    Args:
        memory: the record of the player.
        prior: float64 [X, 3] frequencies towards which the player's are shrunk.
        cells: int64 [K] cells of the decision.
        out: float32 [X * 3 + K * DEVIATION_INPUTS] receives the inputs.
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
    """Record that a player took an action.

    Args:
        memory: the record of the player; updated.
        context: context of the decision.
        cells: int64 [K] cells of the decision.
        predicted: float32 [3] predicted probabilities.
        action: class of the action.
        decay: factor by which older counts decay.
        decays: float64 [K] factors by which older entries of the cells decay.
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
    """Compute the inputs about the player's past for every row, from the rows before it.

    Args:
        player: int32 [n] player of each row.
        action: uint8 [n] class of each action.
        context: int64 [n] context of each row.
        cells: int64 [n, K] cells of each row.
        num_cells: number of cells C.
        predicted: float32 [n, 3] predicted probabilities.
        prior: float64 [X, 3] frequencies towards which the player's are shrunk.
        decay: factor by which older counts decay.
        decays: float64 [K] factors by which older entries of the cells decay.

    Returns:
        float32 [n, X * 3 + K * DEVIATION_INPUTS].
    """
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
