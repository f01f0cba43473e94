"""Entries: the kernels that Python calls. Each states the types it is called with, so that all can be compiled ahead.

Importing a module compiles nothing. `python -m poker.kernels` compiles every entry into numba's cache on disk; a kernel
edited since, or called with other types, is compiled when it is called. Numba sees edits in the file of a kernel, not
in those of the kernels it calls: after an edit in `rng`, `simd`, `barrier`, `cards/ranks`, `cards/isomorphism` or
`sampling/nodes` remove the cache of their callers (`make clean`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numba import njit, types

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class Entry(NamedTuple):
    """A compiled function and the types of its arguments, once for each way in which it is called."""

    dispatcher: Any
    signatures: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.dispatcher.py_func.__module__}.{self.dispatcher.py_func.__name__}"

    def compile(self, signature: str) -> None:
        """From the cache, or into it."""
        self.dispatcher.compile(eval(f"({signature},)", {}, _Types(self.dispatcher.py_func.__globals__)))


INLINE: Any = {"cache": True, "nogil": True, "inline": "always"}
"""Options of a kernel that is called in one place, or short: it is compiled with its caller and not by itself."""
ENTRIES: list[Entry] = []
"""Of the modules imported so far."""


def entry(*signatures: str, **options: Any) -> Callable[[Kernel], Kernel]:
    """`njit` for a kernel that Python calls with arguments of the given types.

    `u1_2` is a C-contiguous uint8 matrix, `u1_2r` a read-only one, `i8` an int and `f8` a float. Dtypes and named
    tuples have the names of the kernel's file, as in `NODE_1` and `Tree(NODE_1, i4_2)`.
    """

    def decorate(function: Kernel) -> Kernel:
        dispatcher: Kernel = njit(cache=True, nogil=True, **options)(function)
        ENTRIES.append(Entry(dispatcher, signatures))
        return dispatcher

    return decorate


class _Types(dict[str, Any]):
    """Numba's types by the names of signatures."""

    def __missing__(self, name: str) -> Any:
        scalar, _, shape = name.partition("_")
        kind = self[scalar] if scalar in self else getattr(types, scalar)
        if isinstance(kind, np.dtype):
            kind = numba.from_dtype(kind)
        return types.Array(kind, int(shape[0]), "C", readonly=shape.endswith("r")) if shape else kind

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        is_tuple = isinstance(found, type) and hasattr(found, "_fields")
        return (lambda *fields: types.NamedTuple(fields, found)) if is_tuple else found  # type: ignore[no-untyped-call]
