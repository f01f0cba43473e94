"""An LRU cache for values that are expensive to compute and are needed again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """A least-recently-used cache with a maximum number of values.

    Args:
        size: maximum number of values.
    """

    def __init__(self, size: int) -> None:
        """Create an empty cache."""
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def hold(self, size: int) -> None:
        """Raise the maximum number of values to at least `size`."""
        self._size = max(self._size, size)

    def get(self, key: K) -> V | None:
        """Return the value of a key and mark it as used, or None if it is not cached."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Store a value, and drop the least recently used one if the cache is full."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, computing and storing it with `make` if it is not cached."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value
