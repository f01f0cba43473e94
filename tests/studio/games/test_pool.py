"""The pool of agents: the home process of each owner, and the cost of a process that ends."""

import os
import threading
import time

import pytest

from poker.run.child import ChildFailure
from poker.run.errors import PokernetsError
from poker.studio.games.pool import Call, Pool


class Slow:
    """An agent that takes its time; `mine` shows in which process."""

    def mine(self, seconds: float) -> int:
        time.sleep(seconds)
        return os.getpid()

    def die(self) -> None:
        os._exit(1)

    def fail(self) -> None:
        raise ValueError("it fails")


@pytest.fixture
def pool() -> Pool:
    return Pool({"slow": Slow}, 4, background=True)


def mine(pool: Pool, owner: str, seconds: float = 0.0) -> int:
    process: int = pool.ask(owner, Call("slow", "mine", (seconds,)))
    return process


def test_owners_keep_a_home_and_one_is_started_when_all_are_busy(pool: Pool) -> None:
    first = mine(pool, "ann")
    assert mine(pool, "bob") == first
    started = time.monotonic()
    threads = [threading.Thread(target=mine, args=(pool, "ann", 3.0)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while pool._processes[0].load < 2:
        time.sleep(0.005)
    other = mine(pool, "cid")
    assert other != first
    for thread in threads:
        thread.join()
    assert time.monotonic() - started > 6, "the calls of one owner overlapped"
    assert (mine(pool, "ann"), mine(pool, "bob"), mine(pool, "cid")) == (first, first, other)


def test_a_process_that_ends_is_replaced(pool: Pool) -> None:
    first = mine(pool, "ann")
    with pytest.raises(ChildFailure, match="its process died"):
        pool.ask("ann", Call("slow", "die"))
    second = mine(pool, "ann")
    assert second != first
    os.kill(second, 9)
    assert mine(pool, "ann") not in (first, second)
    with pytest.raises(ChildFailure, match=r"ValueError: it fails \(.*test_pool.py, line \d+\)"):
        pool.ask("ann", Call("slow", "fail"))


def missing() -> Slow:
    raise PokernetsError("make it first")


@pytest.mark.parametrize("processes", [0, 1])
def test_agents_that_cannot_be_built_are_reported(processes: int) -> None:
    with pytest.raises(PokernetsError, match="make it first"):
        Pool({"missing": missing}, processes).start().result()
