"""The pool of agents: turns, the home process of each caller, and the cost of a process that ends."""

import os
import threading
import time

import pytest

from poker.agents.remote import AgentFailure
from poker.play.pool import Call, Pool
from poker.run.errors import PokernetsError


class Slow:
    """Answers when released; `mine` tells processes apart."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.let = threading.Semaphore(0)

    def think(self, text: str) -> str:
        self.asked.append(text)
        self.let.acquire()
        return text

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


def until(holds: object) -> None:
    end = time.monotonic() + 60
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.005)


def test_who_has_had_less_goes_first_and_is_told_the_place() -> None:
    agent = Slow()
    pool = Pool({"slow": lambda: agent}, 0)
    pool.start().offers.result()
    threads = []
    for number, (owner, text) in enumerate([("ann", "a1"), ("ann", "a2"), ("ann", "a3"), ("bob", "b1"), ("cid", "c1")]):
        threads.append(threading.Thread(target=pool.ask, args=(owner, Call("slow", "think", (text,)))))
        threads[-1].start()
        until(lambda number=number: len(pool._workers[0].waiting) == number if number else agent.asked)
    assert [pool.place(owner) for owner in ("ann", "bob", "cid", "dan")] == [3, 1, 2, 0]
    for done in range(1, 6):
        until(lambda done=done: len(agent.asked) == done)
        agent.let.release()
    for thread in threads:
        thread.join()
    assert agent.asked == ["a1", "b1", "c1", "a2", "a3"]
    assert pool.place("ann") == 0


def test_a_busy_process_gets_company_and_homes_are_kept(pool: Pool) -> None:
    """A caller stays at home until a hand begins, and may then move."""
    first = pool.ask("ann", Call("slow", "mine", (0.0,)))
    threads = [threading.Thread(target=pool.ask, args=("ann", Call("slow", "mine", (3.0,)))) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: pool._workers[0].load[0] == 2)
    threads.append(threading.Thread(target=pool.ask, args=("bob", Call("slow", "mine", (0.0,)))))
    threads[-1].start()
    until(lambda: len(pool._workers) == 2 and pool._workers[1].ready)
    assert pool.ask("cid", Call("slow", "mine", (0.0,))) != first
    for thread in threads:
        thread.join()
    assert pool.ask("bob", Call("slow", "mine", (0.0,))) == first
    assert {pool.ask("ann", Call("slow", "mine", (0.0,))) for _ in range(3)} == {first}


def test_a_process_that_ends_is_replaced(pool: Pool) -> None:
    first = pool.ask("ann", Call("slow", "mine", (0.0,)))
    with pytest.raises(AgentFailure, match="its process died"):
        pool.ask("ann", Call("slow", "die"))
    assert pool.ask("ann", Call("slow", "mine", (0.0,))) != first
    with pytest.raises(AgentFailure, match="ValueError: it fails"):
        pool.ask("ann", Call("slow", "fail"))


def missing() -> Slow:
    raise PokernetsError("make it first")


def test_agents_that_cannot_be_built_are_told_of() -> None:
    for processes in (0, 1):
        pool = Pool({"missing": missing}, processes)
        with pytest.raises(PokernetsError, match="make it first"):
            pool.start().offers.result()
