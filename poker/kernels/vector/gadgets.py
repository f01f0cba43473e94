"""What happens at the gadgets of safe re-solving, where the opponent of the searcher compares a subgame with values
that are given (`poker.tree.gadget`).

An ALTERNATIVE pays its owner the hand's alternative value times the mass of compatible hands: a fold with a factor per
hand. RESOLVE gadgets are decisions like others. At a MARGIN gadget the owner has one infoset, whose actions are the
hands to enter with: probabilities q(h) by regret matching over v(h) - alternative(h), values given a compatible hand.
The reach that comes there enters with q(h) / mass(h), in all as much as came, so that the game stays one of values
given a compatible hand, whatever the searcher's range blocks.
"""

from numba import njit

from poker.kernels.registry import INLINE, INTERNAL
from poker.kernels.simd import fma, load, maximum, splat, store, total, where_positive
from poker.kernels.types import F32
from poker.kernels.vector.arrays import (
    BELOW,
    CHOOSES,
    COMING,
    ENTERED,
    HELD,
    NUMBER,
    OTHER,
    OWN,
    TARGET,
    Gadgets,
)
from poker.kernels.vector.decisions import AVERAGE, CARRY, DECAY, FLOOR, NEGATIVE, POSITIVE, PREDICTION, SOLVE

ENTER, WEIGH, TAKE, LEAVE = range(4)
"""When gadgets are visited: before reach goes down, before and after terminals are evaluated, when values are up."""

LEAST_MASS = 1e-5
"""Hands that leave less than this part of the searcher's range possible cannot enter at a MARGIN gadget: their values
would be rounding errors divided by nothing."""


@njit(**INTERNAL)
def _choose(source: F32, mass: F32, at: int, hands: int, work: F32, out: int) -> None:
    """The probabilities with which hands enter, proportional to the positive part of `source`, at work[out..]."""
    added, allowed = splat(0.0), splat(0.0)
    for i in range(0, hands, 16):
        known = load(mass, at + i)
        part = where_positive(known, maximum(load(source, at + i), splat(0.0)), splat(0.0))
        store(work, out + i, part)
        added = added + part
        allowed = allowed + where_positive(known, splat(1.0), splat(0.0))
    weight, number = total(added), total(allowed)
    for i in range(0, hands, 16):
        if weight > 0.0:
            store(work, out + i, load(work, out + i) / splat(weight))
        elif number > 0.0:
            store(work, out + i, where_positive(load(mass, at + i), splat(1.0 / number), splat(0.0)))


@njit(**INLINE)
def _enter(
    gadgets: Gadgets,
    at: int,
    hands: int,
    solve: bool,
    decay: float,
    work: F32,
    q: int,
    coming: int,
    below: int,
    stride: int,
) -> None:
    """The owner's reach below a MARGIN gadget, from the probabilities at work[q..]."""
    mass, sums = gadgets.mass, gadgets.sums
    pairs = splat(0.0)
    for i in range(0, hands, 16):
        pairs = fma(load(work, coming + i), load(mass, at + i), pairs)
    pairs = splat(total(pairs))
    for i in range(0, hands, 16):
        known, share = load(mass, at + i), load(work, q + i)
        entering = where_positive(known, pairs * share / known, splat(0.0))
        store(work, below + i, entering)
        store(work, below + stride + i, entering)
        if solve:
            store(sums, at + i, fma(load(sums, at + i), splat(decay), share))


@njit(**INLINE)
def _multiply(work: F32, factor: int, alternatives: F32, at: int, target: int, hands: int) -> None:
    for i in range(0, hands, 16):
        store(work, target + i, load(work, factor + i) * load(alternatives, at + i))


@njit(**INLINE)
def _gains(
    mass: F32, at: int, hands: int, size: int, work: F32, held: int, entered: int, alternative: int, gains: int
) -> None:
    """Value less alternative of each hand that may enter, at work[gains..], and the mass it leaves possible."""
    most = work[held]
    for i in range(1, size):
        most = max(most, work[held + i])
    for i in range(0, hands, 16):
        here = load(work, held + i)
        above = here - splat(LEAST_MASS * most)
        gain = (load(work, entered + i) - load(work, alternative + i)) / here
        store(mass, at + i, where_positive(above, here, splat(0.0)))
        store(work, gains + i, where_positive(above, gain, splat(-1.0e30)))


@njit(**INLINE)
def _add_regrets(gadgets: Gadgets, at: int, hands: int, gains: int, value: float, parameters: F32, work: F32) -> None:
    """As `_update` of decisions, with the hands that may enter as actions."""
    positive, negative = splat(parameters[POSITIVE]), splat(parameters[NEGATIVE])
    floor, carry, prediction = splat(parameters[FLOOR]), splat(parameters[CARRY]), splat(parameters[PREDICTION])
    for i in range(at, at + hands, 16):
        gain = load(work, gains + (i - at)) - splat(value)
        gain = where_positive(load(gadgets.mass, i), gain, splat(0.0))
        old = load(gadgets.regrets, i)
        new = maximum(fma(old, where_positive(old, positive, negative), gain), floor)
        store(gadgets.regrets, i, new)
        store(gadgets.source, i, fma(gain, prediction, new * carry))


@njit(**INTERNAL)
def visit_gadgets(
    gadgets: Gadgets,
    when: int,
    begin: int,
    end: int,
    mode: int,
    at_board: int,
    size: int,
    hands: int,
    stride: int,
    reach: int,
    value: int,
    predictive: bool,
    parameters: F32,
    q: int,
    gains: int,
    work: F32,
) -> None:
    """Gadgets begin..end on one board. `size` and `hands` (padded) are those of the owner's list; `reach` and `value`
    are where rows begin, `q` and `gains` scratch memory."""
    followed = gadgets.sums
    if mode == SOLVE:
        followed = gadgets.source if predictive else gadgets.regrets
    for row in range(begin, end):
        own, margin = gadgets.rows[row, OWN], gadgets.rows[row, CHOOSES]
        at = at_board + gadgets.rows[row, NUMBER] * hands
        coming, below = reach + gadgets.rows[row, COMING] * stride, reach + gadgets.rows[row, BELOW] * stride
        target, held = value + gadgets.rows[row, TARGET] * stride, value + gadgets.rows[row, HELD] * stride
        alternative = value + gadgets.rows[row, OTHER] * stride
        entered = value + gadgets.rows[row, ENTERED] * stride
        if when == WEIGH and not own:
            _multiply(work, below, gadgets.alternatives, at, below, hands)
        if when == TAKE and own:
            _multiply(work, held, gadgets.alternatives, at, alternative, hands)
        if not margin:
            continue
        if when == ENTER and not own:
            _choose(followed, gadgets.mass, at, hands, work, q)
            _enter(gadgets, at, hands, mode == SOLVE, parameters[DECAY], work, q, coming, below, stride)
        if when == LEAVE and not own:
            for i in range(0, hands, 16):
                store(work, target + i, load(work, entered + i) + load(work, alternative + i))
        if when == LEAVE and own:
            _gains(gadgets.mass, at, hands, size, work, held, entered, alternative, gains)
            worth = work[gains]
            for i in range(1, size):
                worth = max(worth, work[gains + i])
            if mode in (SOLVE, AVERAGE):
                _choose(followed, gadgets.mass, at, hands, work, q)
                expected = splat(0.0)
                for i in range(0, hands, 16):
                    expected = fma(load(work, q + i), load(work, gains + i), expected)
                worth = total(expected)
            if mode == SOLVE:
                _add_regrets(gadgets, at, hands, gains, worth, parameters, work)
            for i in range(0, hands, 16):
                store(work, target + i, load(gadgets.mass, at + i) * splat(worth))
