"""Synchronisation of threads inside kernels: shared counters and a barrier on an int64 array.

All members call `wait` the same number of times. Waiting spins briefly and then yields the processor, so that members
can share cores with other programs without stalling them.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from poker.kernels.registry import kernel
from poker.kernels.simd import call, start
from poker.kernels.types import I64

_operation: Any = intrinsic

ARRIVED, ROUND, TICKET = 0, 8, 16
"""Places in the shared array, one cache line apart."""
SHARED_SIZE = 24

_SPINS = 2000
_INT64 = ir.IntType(64)


@_operation
def fetch_add(typing: Any, array: Any, index: Any, amount: Any) -> Any:
    """Add `amount` atomically to an element of an int64 array [n], and return the value before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        amount = context.cast(builder, args[2], signature.args[2], types.int64)
        return builder.atomic_rmw("add", start(context, builder, signature, args, _INT64), amount, "seq_cst")

    return types.int64(array, index, amount), generate


@_operation
def read(typing: Any, array: Any, index: Any) -> Any:
    """Read an element of a shared int64 array [n] atomically."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(start(context, builder, signature, args, _INT64), "seq_cst", 8)

    return types.int64(array, index), generate


@_operation
def _yield_processor(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return call(builder, "sched_yield", ir.IntType(32), [])

    return types.int32(), generate


@kernel
def wait(shared: I64, members: int) -> None:
    """Return when all members have called it; the last one resets the ticket counter.

    Args:
        shared: int64 [SHARED_SIZE] counters, zeros at the start.
        members: number of threads.
    """
    if members == 1:
        fetch_add(shared, TICKET, -read(shared, TICKET))
        return
    current = read(shared, ROUND)
    if fetch_add(shared, ARRIVED, 1) == members - 1:
        fetch_add(shared, ARRIVED, -members)
        fetch_add(shared, TICKET, -read(shared, TICKET))
        fetch_add(shared, ROUND, 1)
        return
    spins = 0
    while read(shared, ROUND) == current:
        spins += 1
        if spins > _SPINS:
            _yield_processor()
