"""Ranges of all players, given what everybody saw: one weight per hand, updated by Bayes' rule.

Ranges are float32 [P, H] and public: they follow from the actions and the board alone, never from the searcher's own
cards, so the searcher's range is what an observer who knows its strategy believes. A row sums to 1. Card removal
between the two hands is left to the solver.
"""

import numpy as np

from poker.game.cards import HOLDEM, updated_range
from poker.game.rules import Rules
from poker.kernels.types import Board, Ranges, Singles


def start_ranges(rules: Rules) -> Ranges:
    """Ranges before the first action: every hand is equally likely."""
    return np.full((rules.num_players, rules.num_hands), 1.0 / rules.num_hands, dtype=np.float32)


def observe_action(ranges: Ranges, player: int, probs: Singles, noise: float) -> Ranges:
    """Ranges after `player` took an action that it takes with `probs` [H].

    The action is explained by the strategy with probability 1 - `noise` and by chance otherwise, so that a model of the
    opponent that is a little wrong rules no hand out. An action that no hand takes leaves the range as it was.
    """
    updated = ranges.copy()
    weights = updated_range(ranges[player], (1.0 - noise) * probs + noise)
    if weights is not None:
        updated[player] = weights
    return updated


def likelihood(weights: Singles, probs: Singles) -> float:
    """How likely an action is over a range [H] of hands that take it with `probs` [H]."""
    return float(weights @ probs / weights.sum(dtype=np.float64))


def relative(weights: Singles) -> Singles:
    """[H] weights of hands relative to the likeliest one."""
    scaled: Singles = weights / max(weights.max(), np.float32(1e-30))
    return scaled


def observe_board(ranges: Ranges, board: Board) -> Ranges:
    """Ranges after cards were dealt: hands that hold one of them are gone; a range left empty becomes uniform."""
    live = HOLDEM.live(board)
    uniform = (live / np.float32(live.sum())).astype(np.float32)
    updated = [updated_range(weights, live) for weights in ranges]
    return np.stack([uniform if weights is None else weights for weights in updated])
