"""An object in its own process, whose methods are called through a pipe, because it may die.

The process ends when the process that started it ends, for whatever reason. Ctrl+C reaches only the starting process.
"""

import multiprocessing
import os
import select
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import Any

from poker.run.errors import PokernetsError, described

ENDS_WITH = "POKERNETS_ENDS_WITH"
"""Environment variable with the number of a process with which commands end, for whatever reason; `make` sets it."""


class ChildFailure(Exception):  # noqa: N818 (what happened to the process, not an error of this program)
    """The process died or raised an error, whose text is the message."""


class ChildDied(ChildFailure):
    """The process ended before it answered."""


class Child:
    """An object in its own process.

    The process starts and builds the object at the first call, and again at the first call after it has ended. Calls
    must not overlap.

    Args:
        build: function that makes the object. It, the object's arguments and its answers must be picklable.
    """

    def __init__(self, build: Callable[[], Any]) -> None:
        """Store `build`; the process starts with the first call."""
        self._build = build
        self._pipe: Connection | None = None
        self._process: Any = None

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the object and wait for its answer.

        Args:
            method: name of the method.

        Raises:
            PokernetsError: as raised by the object or by `build`.
            ChildFailure: any other error, or the end of the process (`ChildDied`).
        """
        pipe = self._pipe or self._start()
        try:
            pipe.send((method, arguments))
            is_error, answer = pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join(1.0)
            status = self._process.exitcode
            self.kill()
            raise ChildDied(f"its process died during {method}, exit status {status}") from error
        except KeyboardInterrupt:
            self.kill()  # or its late answer would be read as the answer to the next call
            raise
        if is_error:
            raise answer
        return answer

    def kill(self) -> None:
        """Kill the process, if there is one."""
        if self._pipe is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._pipe.close()
            self._pipe = self._process = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._build), daemon=True)
        process.start()
        theirs.close()
        self._pipe, self._process = ours, process
        return ours


def _serve(pipe: Connection, build: Callable[[], Any]) -> None:
    """Run the loop of the process: (method, arguments) in, (whether it is an error, value) out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    built: Any = None
    while True:
        try:
            method, arguments = pipe.recv()
        except EOFError:
            return
        try:
            if built is None:
                built = build()
            answer = False, getattr(built, method)(*arguments)
        except Exception as error:
            answer = True, _sendable(error)
        try:
            pipe.send(answer)
        except Exception as error:  # the answer cannot be pickled
            pipe.send((True, ChildFailure(f"answer to {method} cannot be sent: {error}")))


def _sendable(error: Exception) -> Exception:
    """Return an error that the other process can unpickle, with the traceback as a note."""
    if isinstance(error, PokernetsError):
        return PokernetsError(str(error))
    failure = ChildFailure(described(error))
    failure.add_note(traceback.format_exc(limit=-5))
    return failure


def end_with_parent() -> None:
    """End this process as soon as the process that started it has ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    _end_after(parent.join)


@cache
def end_with_starter() -> None:
    """End this process as soon as the process has ended whose number is in the environment variable `ENDS_WITH`.

    That process may be any ancestor, such as a `make` that runs others. Without the variable nothing happens.
    """
    if number := os.environ.get(ENDS_WITH):
        _end_after(partial(_wait_for, int(number)))


def _end_after(wait: Callable[[], object]) -> None:
    def watch() -> None:
        wait()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _wait_for(number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "pidfd_open"):  # on Linux
            select.select([os.pidfd_open(number)], [], [])
            return
        while True:
            os.kill(number, 0)
            time.sleep(1.0)
