"""Values that may be missing, in tests where they are not."""

from typing import TypeVar

T = TypeVar("T")


def given(value: T | None) -> T:
    """The value, which the test fails without."""
    assert value is not None
    return value
