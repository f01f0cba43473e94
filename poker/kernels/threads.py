"""Execution of kernels over rows of arrays, on all threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

_PARTS = 8
"""Number of parts of the work per thread, so that no thread waits long for the others."""


def over_rows(kernel: Callable[..., None], rows: int, *arguments: Any) -> None:
    """Call `kernel(first, last, *arguments)` for parts of 0..rows on all of numba's threads.

    Read-only arrays are copied, because a kernel is compiled once, for writable arrays.

    Args:
        kernel: the kernel; it processes rows first..last - 1.
        *arguments: further arguments of the kernel.
    """
    given = [x.copy() if isinstance(x, np.ndarray) and not x.flags.writeable else x for x in arguments]
    threads: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    step = -(-rows // (_PARTS * threads)) or 1
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(kernel, first, min(first + step, rows), *given) for first in range(0, rows, step)]:
            done.result()
