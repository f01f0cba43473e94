"""Locks between processes. A lock is released when its process ends, for whatever reason."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from poker.run.atomic import make_folder
from poker.run.errors import PokernetsError


@contextmanager
def alone(folder: Path, refusal: str | None = None, name: str = "") -> Iterator[None]:
    """Lock a folder, or a name in it, for the duration of the block; the lock is a file in the folder.

    Args:
        folder: the folder, which is made if it does not exist.
        refusal: error message if another process has the lock; None waits for the lock.
        name: what is locked in the folder; empty for the folder itself.

    Raises:
        PokernetsError: another process has the lock and `refusal` is given.
    """
    make_folder(folder)
    lock = FileLock(folder / f"{name and '.'}{name}.lock")
    try:
        lock.acquire(blocking=refusal is None)
    except Timeout:
        raise PokernetsError(refusal) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def claimed(*outputs: str) -> Iterator[None]:
    """Keep other commands from making `outputs` inside the block.

    A lock lies beside each output, where every command that makes it looks. If nobody may write to that folder, there
    is no lock.

    Raises:
        PokernetsError: another command is making an output.
    """
    with ExitStack() as locks:
        for output in outputs:
            place = Path(output).parent.resolve() / Path(output).name  # for a link, the place of the link itself
            if os.access(place.parent, os.W_OK) or not place.parent.exists():
                refusal = f"another command is making {output}: wait until it ends"
                locks.enter_context(alone(place.parent, refusal, place.name))
        yield
