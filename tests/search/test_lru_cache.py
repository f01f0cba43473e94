"""The memory of what was worked out before."""

from poker.search.lru_cache import LRUCache


def test_keeps_what_was_used_last() -> None:
    memory: LRUCache[str, int] = LRUCache(2)
    memory.put("a", 1)
    memory.put("b", 2)
    assert memory.get("a") == 1
    memory.put("c", 3)
    assert [memory.get(key) for key in "abc"] == [1, None, 3]
    memory.put("a", 4)
    assert memory.get("a") == 4


def test_of_size_zero_keeps_nothing() -> None:
    memory: LRUCache[str, int] = LRUCache(0)
    memory.put("a", 1)
    assert memory.get("a") is None
