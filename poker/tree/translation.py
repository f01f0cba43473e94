"""Pseudo-harmonic action translation: real bets onto a tree's bets (Ganzfried and Sandholm 2013).

A real bet x between the tree's bets A < B, all in pots, is read as A with probability
(B - x)(1 + A) / ((B - A)(1 + x)).
"""

from collections.abc import Sequence

from poker.rules import CALL


def pseudo_harmonic(below: float, above: float, size: float) -> float:
    """Probability of reading `size` as `below`; sizes in pots, below <= size <= above, below < above."""
    return (above - size) * (1 + below) / ((above - below) * (1 + size))


def translate(total: int, actions: Sequence[int], highest: int, pot: int) -> list[tuple[int, float]]:
    """Tree actions, with probabilities, that a real raise to `total` stands for.

    `highest` is the largest total before the raise and `pot` the pot after calling it. A raise smaller than all in
    `actions` lies between CALL (size 0) and the smallest; one above the largest is read as the largest.
    """
    raises = sorted(action for action in actions if action > 0)
    if total in raises or not raises:
        return [(total if total in raises else CALL, 1.0)]
    if total > raises[-1]:
        return [(raises[-1], 1.0)]
    above = next(action for action in raises if action > total)
    smaller = [action for action in raises if action < total]
    below = smaller[-1] if smaller else CALL
    below_size = (below - highest) / pot if smaller else 0.0
    probability = pseudo_harmonic(below_size, (above - highest) / pot, (total - highest) / pot)
    return [(below, probability), (above, 1.0 - probability)]
