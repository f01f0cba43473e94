"""What happens at the gadgets of safe re-solving, where the opponent of the searcher compares a subgame with values
that are given (`poker.tree.gadget`).

An ALTERNATIVE pays its owner the hand's alternative value times the mass of compatible hands: a fold with a factor per
hand. The gadget itself is a decision like others.
"""

from numba import njit

from poker.kernels.registry import INLINE, INTERNAL
from poker.kernels.simd import load, store
from poker.kernels.types import F32
from poker.kernels.vector.arrays import BELOW, HELD, NUMBER, OTHER, Gadgets


@njit(**INLINE)
def _multiply(work: F32, factor: int, alternatives: F32, at: int, target: int, hands: int) -> None:
    for i in range(0, hands, 16):
        store(work, target + i, load(work, factor + i) * load(alternatives, at + i))


@njit(**INTERNAL)
def visit_gadgets(
    gadgets: Gadgets,
    own: int,
    begin: int,
    end: int,
    at_board: int,
    hands: int,
    stride: int,
    reach: int,
    value: int,
    work: F32,
) -> None:
    """Gadgets begin..end on one board: before terminals are evaluated the reach of hands that stay out, of another
    player's gadget, after it their values, of an `own` one. `hands` (padded) are those of the owner's list; `reach` and
    `value` are where rows begin."""
    for row in range(begin, end):
        at = at_board + gadgets.rows[row, NUMBER] * hands
        if own:
            held, other = value + gadgets.rows[row, HELD] * stride, value + gadgets.rows[row, OTHER] * stride
            _multiply(work, held, gadgets.alternatives, at, other, hands)
        else:
            below = reach + gadgets.rows[row, BELOW] * stride
            _multiply(work, below, gadgets.alternatives, at, below, hands)
