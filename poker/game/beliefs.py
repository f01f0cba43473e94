"""Ranges of all players given the public actions and the board, updated by Bayes' rule.

Ranges are float32 [P, H], one weight per player and hand, and each row sums to 1. They follow from public information
alone and never from the searcher's own cards. The searcher's row is therefore the range that an observer who knows its
strategy would compute. The solver, not this module, accounts for cards shared between the two hands.
"""

import numpy as np

from poker.game.cards import HOLDEM, updated_range
from poker.game.rules import Rules
from poker.kernels.types import Board, Ranges, Singles


def start_ranges(rules: Rules) -> Ranges:
    """Return the ranges before the first action, in which every hand is equally likely.

    Returns:
        float32 [P, H] uniform ranges; each row sums to 1.
    """
    return np.full((rules.num_players, rules.num_hands), 1.0 / rules.num_hands, dtype=np.float32)


def observe_action(ranges: Ranges, player: int, probs: Singles, noise: float, num_actions: int) -> Ranges:
    """Update the range of one player after an action.

    We assume that the player follows the given strategy with probability 1 - `noise` and otherwise takes one of the A
    actions at random. So the action has probability (1 - noise) p + noise / A, and a slightly wrong opponent model
    rules out no hand. An action that no hand takes leaves the range unchanged.

    Args:
        ranges: [P, H] ranges before the action; not modified.
        player: the player who acted.
        probs: [H] probability with which each hand takes the action.
        noise: probability of a random action, 0 to 1.
        num_actions: number A of actions that the player chose from.

    Returns:
        [P, H] ranges after the action.
    """
    updated = ranges.copy()
    weights = updated_range(ranges[player], (1.0 - noise) * probs + noise / num_actions)
    if weights is not None:
        updated[player] = weights
    return updated


def likelihood(weights: Singles, probs: Singles) -> float:
    """Compute the probability of an action, averaged over a range.

    Args:
        weights: [H] range of the player who acts; it need not sum to 1.
        probs: [H] probability with which each hand takes the action.

    Returns:
        The probability, 0 to 1.
    """
    return float(weights @ probs / weights.sum(dtype=np.float64))


def relative(weights: Singles) -> Singles:
    """Scale a range so that its most likely hand has weight 1.

    Args:
        weights: [H] weights of hands.

    Returns:
        [H] weights divided by the largest one.
    """
    scaled: Singles = weights / max(weights.max(), np.float32(1e-30))
    return scaled


def observe_board(ranges: Ranges, board: Board) -> Ranges:
    """Remove hands that conflict with the board from all ranges.

    Args:
        ranges: [P, H] ranges before the cards were dealt; not modified.
        board: all board cards, as hold'em card numbers.

    Returns:
        [P, H] ranges with rows that sum to 1. A range left without a hand becomes uniform over the possible hands.
    """
    live = HOLDEM.live(board)
    uniform = (live / np.float32(live.sum())).astype(np.float32)
    updated = [updated_range(weights, live) for weights in ranges]
    return np.stack([uniform if weights is None else weights for weights in updated])
