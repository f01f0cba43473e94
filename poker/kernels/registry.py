"""Registry of entries, the kernels that Python calls, with their argument types for ahead-of-time compilation.

Importing a module compiles nothing. `python -m poker.kernels` compiles every entry into numba's cache on disk. A kernel
is compiled when it is called with other types, or after an edit of its file or of a file that this one imports, at any
depth. A variable index is never negative in a kernel (see `compiler`).
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
    """A compiled function and the types of its arguments, one signature for each way in which it is called.

    Attributes:
        dispatcher: numba's dispatcher.
        signatures: argument types, as in `entry`.
    """

    dispatcher: Any
    signatures: tuple[str, ...]

    @property
    def name(self) -> str:
        """Dotted name of the function."""
        return f"{self.dispatcher.py_func.__module__}.{self.dispatcher.py_func.__name__}"

    def compile(self, signature: str) -> None:
        """Compile for a signature, or load the compiled code from the cache."""
        self.dispatcher.compile(eval(f"({signature},)", {}, _Types()))


KERNEL: Any = {"cache": True, "nogil": True, "pipeline_class": KernelCompiler, "no_cfunc_wrapper": True}
"""Options of a kernel that Python calls. A wrapper for calls from C is omitted, because it takes long to compile."""
INTERNAL: Any = {**KERNEL, "no_cpython_wrapper": True}
"""Options of a kernel that only kernels call; a wrapper for Python is omitted too."""
ENTRIES: list[Entry] = []
"""All entries of the modules imported so far."""
_ALLOCATIONS = 100_000
"""Allocations between two garbage collections during compilation. With Python's default of 700 `vector.sweep` takes
21.7 s to compile instead of 17.5."""


def kernel(function: Any) -> Any:
    """Decorate a kernel that only kernels call; without a wrapper, calling it from Python crashes."""
    return njit(**INTERNAL)(function)


def inline(function: Any) -> Any:
    """Decorate a short kernel, or one that is called in one place, to be compiled with its caller."""
    return njit(cache=True, nogil=True, inline="always")(function)


def entry(*signatures: str, **options: Any) -> Callable[[Kernel], Kernel]:
    """Decorate a kernel that Python calls with arguments of the given types.

    `u1_2` is a C-contiguous uint8 matrix, `u1_2r` a read-only one, `i8` an int and `f8` a float. Dtypes and named
    tuples of kernels are written by name, as in `NODE_1` and `Tree(NODE_1, i4_2)`.

    Args:
        *signatures: argument types, one text for each way in which the kernel is called.
        **options: further options of `njit`.
    """

    def decorate(function: Kernel) -> Kernel:
        dispatcher: Kernel = njit(**KERNEL, **options)(function)
        ENTRIES.append(Entry(dispatcher, signatures))
        return dispatcher

    return decorate


def compile_entry(name: str, signature: str) -> bool:
    """Compile an entry for a signature in any process.

    Args:
        name: dotted name of the entry.
        signature: argument types.

    Returns:
        Whether the cache lacked it.
    """
    gc.set_threshold(_ALLOCATIONS)
    importlib.import_module(name.rpartition(".")[0])
    entry = next(entry for entry in ENTRIES if entry.name == name)
    before = entry.dispatcher.stats.cache_misses.total()
    entry.compile(signature)
    return bool(entry.dispatcher.stats.cache_misses.total() > before)


class _Types(dict[str, Any]):
    """Numba's types by the names in signatures."""

    def __missing__(self, name: str) -> Any:
        base, _, shape = name.partition("_")
        kind = getattr(types, base, None) or _defined(base)
        if isinstance(kind, np.dtype):
            kind = numba.from_dtype(kind)
        if isinstance(kind, type):
            return lambda *fields: types.BaseTuple.from_types(fields, kind)  # type: ignore[no-untyped-call]
        return types.Array(kind, int(shape[0]), "C", readonly=shape.endswith("r")) if shape else kind


def _defined(name: str) -> Any:
    """Return a dtype or named tuple of a loaded module of kernels."""
    return next(
        vars(m)[name] for key, m in sys.modules.items() if key.startswith(f"{__package__}.") and name in vars(m)
    )
