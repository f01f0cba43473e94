"""Entries: the kernels that Python calls. Each states the types it is called with, so that all can be compiled ahead.

Importing a module compiles nothing. `python -m poker.kernels` compiles every entry into numba's cache on disk; a kernel
edited since, or called with other types, is compiled when it is called. Numba sees edits in the file of a kernel, not
in those of the kernels it calls: after an edit in `compiler`, `rng`, `simd`, `barrier`, `cards/ranks`,
`cards/isomorphism` or `sampling/nodes` remove the cache of their callers (`make clean`). An index that is a variable is
never negative in a kernel (`compiler` says why).
"""

import gc
import importlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numba import njit, types

from poker.kernels.compiler import KernelCompiler

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class Entry(NamedTuple):
    """A compiled function and the types of its arguments, once for each way in which it is called."""

    dispatcher: Any
    signatures: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.dispatcher.py_func.__module__}.{self.dispatcher.py_func.__name__}"

    def compile(self, signature: str) -> None:
        """Compile for a signature: from the cache, or into it."""
        self.dispatcher.compile(eval(f"({signature},)", {}, _Types()))


KERNEL: Any = {"cache": True, "nogil": True, "pipeline_class": KernelCompiler, "no_cfunc_wrapper": True}
"""Options of a kernel that Python calls: a wrapper for it to be called from C would take long to compile."""
INTERNAL: Any = {**KERNEL, "no_cpython_wrapper": True}
"""Options of a kernel that only kernels call, without a wrapper for Python either."""
ENTRIES: list[Entry] = []
"""All entries of the modules imported so far."""
_ALLOCATIONS = 100_000
"""Objects that the compiler makes between two collections of garbage; with Python's own 700 `vector.sweep` takes 21.7 s
to compile rather than 17.5."""


def kernel(function: Any) -> Any:
    """`njit` for a kernel that only kernels call: Python that calls it crashes, for want of a wrapper."""
    return njit(**INTERNAL)(function)


def inline(function: Any) -> Any:
    """`njit` for a kernel that is called in one place, or short: compiled with its caller and not by itself."""
    return njit(cache=True, nogil=True, inline="always")(function)


def entry(*signatures: str, **options: Any) -> Callable[[Kernel], Kernel]:
    """`njit` for a kernel that Python calls with arguments of the given types.

    `u1_2` is a C-contiguous uint8 matrix, `u1_2r` a read-only one, `i8` an int and `f8` a float. Dtypes and named
    tuples of kernels go by their names, as in `NODE_1` and `Tree(NODE_1, i4_2)`.
    """

    def decorate(function: Kernel) -> Kernel:
        dispatcher: Kernel = njit(**KERNEL, **options)(function)
        ENTRIES.append(Entry(dispatcher, signatures))
        return dispatcher

    return decorate


def compile_entry(name: str, signature: str) -> bool:
    """Compile an entry for a signature, both by name, in any process; whether the cache lacked it."""
    gc.set_threshold(_ALLOCATIONS)
    importlib.import_module(name.rpartition(".")[0])
    entry = next(entry for entry in ENTRIES if entry.name == name)
    before = entry.dispatcher.stats.cache_misses.total()
    entry.compile(signature)
    return bool(entry.dispatcher.stats.cache_misses.total() > before)


class _Types(dict[str, Any]):
    """Numba's types by the names of signatures."""

    def __missing__(self, name: str) -> Any:
        base, _, shape = name.partition("_")
        kind = getattr(types, base, None) or _defined(base)
        if isinstance(kind, np.dtype):
            kind = numba.from_dtype(kind)
        if isinstance(kind, type):
            return lambda *fields: types.BaseTuple.from_types(fields, kind)  # type: ignore[no-untyped-call]
        return types.Array(kind, int(shape[0]), "C", readonly=shape.endswith("r")) if shape else kind


def _defined(name: str) -> Any:
    """A dtype or named tuple of a module of kernels that is loaded."""
    return next(
        vars(m)[name] for key, m in sys.modules.items() if key.startswith(f"{__package__}.") and name in vars(m)
    )
