"""Kernels over rows of arrays, on all threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

_PARTS = 8
"""Parts of the work that a thread gets, one after the other, so that none waits long for the others."""


def over_rows(kernel: Callable[..., None], rows: int, *arguments: Any) -> None:
    """Calls kernel(first, last, *arguments) for parts of 0..rows, by as many threads as numba may use.

    Read-only arrays are copied: a kernel is compiled once, for arrays that can be written.
    """
    given = [x.copy() if isinstance(x, np.ndarray) and not x.flags.writeable else x for x in arguments]
    threads: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    step = -(-rows // (_PARTS * threads)) or 1
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(kernel, first, min(first + step, rows), *given) for first in range(0, rows, step)]:
            done.result()
