"""The executor of this machine and objects in processes of their own: every task once, whatever happens to them."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from poker.run.child import Child
from poker.run.errors import PokernetsError
from poker.run.parallel import BLAS_THREADS, Given, LocalCluster, Work


def squared(number: int) -> int:
    return number**2


def square_or_die(folder: Path, number: int) -> int:
    """Kills the process that has number 3 first."""
    if number == 3 and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    raise PokernetsError(f"no {number}")


def prepared() -> Callable[[int], tuple[int, int, str]]:
    """Says which process it was made in and how often."""
    made = os.getpid()
    return lambda number: (number, made, os.environ[BLAS_THREADS[0]])


def test_every_task_once_with_a_function_prepared_in_each_process() -> None:
    squares = list(LocalCluster(2).run(Work(prepared), range(40)))
    assert sorted(number for number, _, _ in squares) == list(range(40))
    assert 1 <= len({process for _, process, _ in squares}) <= 2
    assert {threads for _, _, threads in squares} == {"1"}


def test_tasks_are_taken_as_processes_come_free() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = LocalCluster(1).run(Work(Given(squared)), tasks())
    assert next(results) in (0, 1)  # of two handed out to a process both may be done
    assert taken == [0, 1]
    assert {next(results), next(results)} <= {0, 1, 4, 9}
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 4


def test_tasks_of_a_killed_process_are_taken_by_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = Work(Given(partial(square_or_die, tmp_path)))
    assert sorted(LocalCluster(2).run(work, range(12))) == [number**2 for number in range(12)]
    assert "a process was killed" in capsys.readouterr().err


def test_gives_up_where_every_process_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PokernetsError, match=r"killed repeatedly.*cluster\.processes"):
        list(LocalCluster(1).run(Work(Given(die)), range(3)))
    assert capsys.readouterr().err.count("a process was killed") == 2


def test_a_system_without_shared_memory_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("multiprocessing.synchronize.SemLock.__init__", missing)
    with pytest.raises(PokernetsError, match=r"no processes can be started .*No such file.* shared memory at /dev/shm"):
        list(LocalCluster(1).run(Work(Given(squared)), [1]))


def test_errors_of_tasks_come_through() -> None:
    with pytest.raises(PokernetsError, match="no 5"):
        list(LocalCluster(1).run(Work(Given(fail)), [5]))
    with pytest.raises(PokernetsError, match="at least 1"):
        LocalCluster(0)


class Echo:
    def say(self, text: str) -> str:
        return text


def test_an_interrupted_call_leaves_no_answer_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> object:
        raise KeyboardInterrupt

    child = Child(Echo)
    assert child.call("say", "first") == "first"
    monkeypatch.setattr(child._pipe, "recv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        child.call("say", "late")
    assert child.call("say", "next") == "next"
    child.kill()


def test_an_object_that_no_process_can_build_is_refused_at_every_call() -> None:
    class Local(Echo):
        """A class that another process cannot import."""

    child = Child(Local)
    for _ in range(2):
        with pytest.raises(AttributeError, match="pickle"):
            child.call("say", "anything")
        child.kill()
