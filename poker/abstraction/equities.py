"""Showdowns of hands against ranges, for every two-player game of `Rules`.

H is the number of hands. A range is float64 [H] and need not sum to 1.
"""

import itertools
import math
from functools import lru_cache

import numpy as np

from poker.abstraction.features import PAIR_COMPLETIONS, all_in_equity, preflop_wins
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, CanonicalBoard
from poker.game.rules import Rules
from poker.game.state import showdown_ranks
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.cards.runouts import runout_ranks, showdown_margins
from poker.kernels.cards.strength import boards_moments, completion_ranks, hand_margins, live_hand_list
from poker.kernels.types import I8, I16, I32, I64, Board, Bools, Floats, Reals, Singles
from poker.run.machine import cores, memory

_MATRIX_MISSING = 2
_MAX_FEW_HANDS = 4
_MIN_RANKED_CARDS = 3
_FLOP = 3


EMPTY = 1e-12
"""Weight below which a range counts as empty; ranges sum to about 1."""


_MAX_CACHED = max(8, memory() // cores() // 6 // (4 * NUM_HANDS**2))
"""Matrices that a process caches, at most a sixth of a core's share of the memory. When both policies are known, AIVAT
needs one matrix per flop (50 ms to compute) and uses it again in each seating and line-up."""


@lru_cache(maxsize=_MAX_CACHED)
def margins(rules: Rules, board: Board) -> Reals:
    """Compute the probability of winning minus that of losing a showdown for every pair of hands.

    All completions of the board that two hands allow are counted, so the mean over the next cards equals the value now.

    Args:
        board: [B] cards on the board.

    Returns:
        [H, H] win minus loss probability of the row's hand against the column's, 0 for impossible pairs. float32 in
        hold'em, float64 in smaller games.
    """
    if rules.deck_size == 52 and rules.num_hole_cards == 2 and len(board) < rules.total_board_cards:
        if rules.total_board_cards == 5:
            return np.where(rules.space.possible(board), 2 * all_in_equity(board) - 1, np.float32(0.0))
        if rules.total_board_cards == 3:
            wins = preflop_wins(3)
            return ((wins - wins.T) / math.comb(rules.deck_size - 4, 3)).astype(np.float32)
    total = np.zeros((rules.num_hands, rules.num_hands))
    missing = rules.total_board_cards - len(board)
    deck = [card for card in range(rules.deck_size) if card not in board]
    for cards in itertools.combinations(deck, missing):
        ranks = hand_ranks(rules, (*board, *cards))
        live = ranks >= 0
        total += np.sign(ranks[:, None] - ranks) * (live[:, None] & live)
    total *= rules.space.disjoint
    total /= math.comb(len(deck) - 2 * rules.num_hole_cards, missing)
    return total.astype(np.float32) if rules.num_hands > 1000 else total


def showdown_equity(rules: Rules, board: Board) -> Singles:
    """Compute the all-in equity of every pair of hands.

    Args:
        rules: the game, which defines how many cards are still dealt.
        board: [B] cards on the board.

    Returns:
        float32 [H, H] probability that the row's hand wins plus half the probability of a tie; 0 for impossible pairs.
    """
    if rules.total_board_cards == 5 and rules.deck_size == 52:
        return all_in_equity(board)
    return np.where(rules.space.possible(board), margins(rules, board) / 2 + 0.5, 0.0).astype(np.float32)


def check_down_chances(rules: Rules, board: Board, opponent: Floats) -> Floats:
    """Compute each hand's equity in a showdown against a range.

    Args:
        board: [B] cards on the board; the rest is dealt at random.
        opponent: [H] range of the opponent.

    Returns:
        [H] win probability with ties counted one half; one half against an empty range.
    """
    mass = rules.space.compatible_mass(opponent)
    chances: Floats = 0.5 + 0.5 * showdown_chances(rules, board, opponent) / np.maximum(mass, EMPTY)
    return np.where(mass > EMPTY, chances, 0.5)


def showdown_chances(rules: Rules, board: Board, opponent: Floats) -> Floats:
    """Sum win minus loss probability over the opponent's compatible hands.

    If two or more cards are to come, a matrix over all pairs of hands is computed once and cached. It pays off from 15
    ranges on. Flops that differ only in the names of suits share one matrix.

    Args:
        board: [B] cards on the board; the rest is dealt at random.
        opponent: [H] range of the opponent.

    Returns:
        [H] sum over compatible hands of weight * (probability to win minus probability to lose at showdown).
    """
    missing = rules.total_board_cards - len(board)
    if rules.num_hole_cards == 2 and (board or missing == 0) and missing < _MATRIX_MISSING:
        order, ranks = (_runouts if missing else _ranked_hands)(rules, board)
        out = np.empty(rules.num_hands)
        showdown_margins(order, ranks, rules.space.hand_cards, np.ascontiguousarray(opponent, dtype=np.float64), out)
        return out / math.comb(rules.deck_size - len(board) - 2 * rules.num_hole_cards, missing)
    if rules.deck_size != 52 or rules.num_hole_cards != 2 or not board:
        return _all_pairs(margins(rules, board), opponent)
    canonical = CanonicalBoard.of(board)
    return canonical.dealt(_all_pairs(margins(rules, canonical.cards), canonical.renamed(opponent)))


def _all_pairs(matrix: Reals, opponent: Floats) -> Floats:
    return (matrix @ opponent.astype(matrix.dtype)).astype(np.float64)


def showdown_totals(rules: Rules, board: Board, own: Floats, opponent: Floats) -> Floats:
    """Sum `showdown_chances` over each of several ranges.

    Proportional ranges give 0 without any computation. In hold'em two kinds of ranges avoid the matrix over all pairs:
    ranges of few hands (a player whose cards are known), and uniform ranges (a player who does not look at the cards).

    Args:
        board: [B] cards on the board; the rest is dealt at random.
        own: [A, H] ranges of the player.
        opponent: [H] range of the opponent.

    Returns:
        [A] sums, weighted by both ranges.
    """
    mass = own.sum(axis=1, keepdims=True)
    differs = np.abs(own * opponent.sum() - mass * opponent).max(axis=1) > EMPTY * mass[:, 0] * opponent.max()
    totals = np.zeros(len(own))
    if not differs.any():
        return totals
    ranges = own[differs]
    if not (rules.deck_size == 52 and rules.num_hole_cards == 2 and rules.total_board_cards == 5):
        totals[differs] = ranges @ showdown_chances(rules, board, opponent)
        return totals
    own_hands, opp_hands = _few_hands(ranges.any(axis=0)), _few_hands(opponent != 0)
    live = rules.space.live(board)
    if own_hands is not None and opp_hands is not None and board:
        between = np.array([[_margin(board, a, b) for b in opp_hands.tolist()] for a in own_hands.tolist()])
        totals[differs] = ranges[:, own_hands] @ between @ opponent[opp_hands]
    elif own_hands is not None:
        totals[differs] = ranges[:, own_hands] @ (_margin_rows(rules, board, own_hands) @ opponent)
    elif opp_hands is not None:
        totals[differs] = -(ranges @ (opponent[opp_hands] @ _margin_rows(rules, board, opp_hands)))
    elif _is_uniform(opponent, live):
        totals[differs] = ranges @ _margin_sums(rules, board) * opponent.max()
    elif all(_is_uniform(row, live) for row in ranges):
        totals[differs] = ranges.max(axis=1) * -(opponent @ _margin_sums(rules, board))
    else:
        totals[differs] = ranges @ showdown_chances(rules, board, opponent)
    return totals


def _few_hands(present: Bools) -> I64 | None:
    """Return the [n] hands with weight if comparing each with all others is faster than the matrix, else None."""
    return np.flatnonzero(present) if np.count_nonzero(present) <= _MAX_FEW_HANDS else None


def _is_uniform(weights: Floats, live: Bools) -> bool:
    """Return whether all live hands have the same weight and all others none."""
    return bool((weights == np.where(live, weights.max(), 0.0)).all())


def _margin_sums(rules: Rules, board: Board) -> Floats:
    """Return the [1326] row sums of `margins`; 0 for hands that share a card with the board."""
    if not board:
        return np.asarray(margins(rules, board).sum(axis=1, dtype=np.float64))
    if len(board) > _FLOP:
        return _later_sums(board)
    flop = CanonicalBoard.of(board)
    return flop.dealt(_flop_sums(flop.cards))


def _sums_from_moments(board: Board) -> Floats:
    own, others = math.comb(52 - len(board) - 2, 5 - len(board)), math.comb(52 - 5 - 2, 2)
    beaten = boards_moments(np.array([board], dtype=np.uint8))[0, 0]  # twice the hands beaten, plus the hands tied
    return np.where(HOLDEM.live(board), beaten - own * others, 0) / PAIR_COMPLETIONS[len(board)]


_flop_sums = lru_cache(maxsize=1755)(_sums_from_moments)
"""Sums of canonical flops, cached for all 1,755."""
_later_sums = lru_cache(maxsize=16)(_sums_from_moments)


def _margin_rows(rules: Rules, board: Board, hands: I64) -> Floats:
    """Return the [n, 1326] rows of `margins` for the given hands."""
    if not board:
        return margins(rules, board)[hands].astype(np.float64)
    return np.stack([_hand_margins(board, hand) for hand in hands.tolist()])


@lru_cache(maxsize=256)
def _margin(board: Board, hand: int, other: int) -> float:
    """Return the win minus the loss probability of one hand against another; 0 for impossible pairs."""
    cards = HOLDEM.hand_cards[[hand, other]]
    if len({*board, *cards.ravel().tolist()}) < len(board) + 4:
        return 0.0
    ranks = runout_ranks(np.array(board, dtype=np.uint8), cards)
    return float(np.sign(ranks[:, 0] - ranks[:, 1]).mean())


@lru_cache(maxsize=32)
def _hand_margins(board: Board, hand: int) -> Floats:
    """Return the [1326] win minus loss probabilities of one hand against every hand; 0 for impossible pairs."""
    live, ranks = _completion_ranks(board)
    out = np.zeros(len(HOLDEM.disjoint))
    place = int(np.searchsorted(live, hand))
    if place < len(live) and live[place] == hand:
        out[live] = HOLDEM.disjoint[hand, live] * hand_margins(ranks, place) / PAIR_COMPLETIONS[len(board)]
    return out


@lru_cache(maxsize=4)
def _completion_ranks(board: Board) -> tuple[I16, I8]:
    """Return the live hands [L] and their ranks [N, L] on every completion of the board."""
    cards = np.array(board, dtype=np.uint8)
    live = live_hand_list(cards)
    return live, completion_ranks(cards, live)


@lru_cache(maxsize=4096)
def _ranked_hands(rules: Rules, board: Board) -> tuple[I16, I16]:
    """Return one row [1, n] of the hands on a complete board, from weakest to strongest, and one of their ranks."""
    ranks = hand_ranks(rules, board)
    order = np.argsort(ranks, kind="stable")
    order = order[ranks[order] >= 0]
    dense = np.unique(ranks[order], return_inverse=True)[1]
    return order[None].astype(np.int16), dense[None].astype(np.int16)


@lru_cache(maxsize=6)
def _runouts(rules: Rules, board: Board) -> tuple[I16, I16]:
    """Return rows [N, n] as in `_ranked_hands` for every completion of the board."""
    if rules.deck_size == 52 and rules.total_board_cards == 5:
        live, ranks = _completion_ranks(board)
        size = math.comb(52 - 5, 2)
        order = np.argsort(ranks, axis=1, kind="stable")[:, :size]
        return live[order], np.take_along_axis(ranks, order, axis=1).astype(np.int16)
    deck = [card for card in range(rules.deck_size) if card not in board]
    missing = rules.total_board_cards - len(board)
    rows = [_ranked_hands(rules, (*board, *new)) for new in itertools.combinations(deck, missing)]
    return np.concatenate([order for order, _ in rows]), np.concatenate([ranks for _, ranks in rows])


def hand_ranks(rules: Rules, board: Board) -> I32:
    """Rank every hand on a complete board.

    Args:
        board: [B] all board cards of the game.

    Returns:
        int32 [H] showdown strength, higher wins; -1 where the hand shares a card with the board.
    """
    if rules.deck_size == 52 and rules.num_hole_cards == 2 and len(board) >= _MIN_RANKED_CARDS:
        return rank_board_hands(np.asarray(board, dtype=np.uint8))
    free = rules.space.live(board)
    out = np.full(rules.num_hands, -1, dtype=np.int32)
    out[free] = showdown_ranks(rules, rules.space.hand_cards[free].tolist(), board)
    return out


def awaits_cards(betting: Betting, board: Board) -> bool:
    """Return whether the street that `betting` has reached needs board cards that are not dealt yet.

    Args:
        betting: the betting so far.
        board: [B] cards on the board.
    """
    undealt = len(board) < betting.rules.board_sizes[betting.street]
    return undealt and (betting.is_showdown or not betting.is_over)


def next_board_size(rules: Rules, board: Board) -> int:
    """Return the number of board cards after the next deal, skipping streets that deal none.

    Args:
        board: [B] cards on the board.
    """
    return next(size for size in rules.board_sizes if size > len(board))
