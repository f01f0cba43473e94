"""Random numbers inside kernels: xoshiro256++ on a `uint64[4]` state that the caller owns.

A stream is one row of `streams(seed, n)`. Numpy's `SeedSequence` spreads the seed, so rows are independent. The state
is plain data, so saving it with a checkpoint resumes the stream exactly.
"""

import numpy as np

from poker.kernels.registry import inline
from poker.kernels.types import U64

Bits = np.uint64


def streams(seed: int | np.random.SeedSequence, n: int) -> U64:
    """Return independent random states.

    Args:
        n: number of streams.

    Returns:
        uint64 [n, 4] one state per row.
    """
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.generate_state(4 * n, dtype=np.uint64).reshape(n, 4).astype(np.uint64)


@inline
def next_u64(state: U64) -> np.uint64:
    """Return the next 64 random bits and advance `state` [4] in place."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    mixed = s0 + s3
    result: np.uint64 = ((mixed << Bits(23)) | (mixed >> Bits(41))) + s0
    shifted = s1 << Bits(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    state[0], state[1], state[2], state[3] = s0, s1, s2, (s3 << Bits(45)) | (s3 >> Bits(19))
    return result


@inline
def next_float(state: U64) -> float:
    """Return a uniform number in [0, 1) with 53 random bits and advance `state` [4]."""
    return float(next_u64(state) >> Bits(11)) * (1.0 / 9007199254740992.0)


@inline
def next_below(state: U64, bound: int) -> int:
    """Return a uniform integer in 0..bound-1 for bound < 2**31 and advance `state` [4] (bias below 2**-32)."""
    return int(((next_u64(state) >> Bits(32)) * Bits(bound)) >> Bits(32))
