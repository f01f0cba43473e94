"""Optional parts of libraries that take long to import and are not used here."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def not_installed(package: str) -> Iterator[None]:
    """Let libraries imported in the block find `package`, or a part of one, missing, unless it is loaded already."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]
