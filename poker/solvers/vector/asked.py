"""Leaves whose values depend on the ranges that reach them: the solver asks for them again while it solves."""

from collections.abc import Callable
from dataclasses import dataclass

from poker.types import Singles


@dataclass(frozen=True)
class AskedLeaves:
    """Values of the leaf states of a tree that ends with the root's street.

    `ask` takes the ranges [L, 2, H] that reach the leaves and gives zero-sum chips of each hand [L, 2, H], the opponent
    holding a compatible hand of the range. It is asked before the first iteration and after every `every` of them, with
    the ranges of the iteration to come, as in CFR-D (Burch et al. 2014); with those of the average strategies a solve
    need not converge.
    """

    num_leaves: int
    ask: Callable[[Singles], Singles]
    every: int
