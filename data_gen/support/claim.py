"""A lock that lets only one command make an artifact at a time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poker.run.lock import alone


@contextmanager
def claimed(output: str) -> Iterator[None]:
    """Keep other commands from making `output` inside the block.

    The lock lies beside the output, where every command that makes it looks. If nobody may write to that folder, there
    is no lock.

    Raises:
        PokernetsError: another command is making the output.
    """
    place = Path(output).parent.resolve() / Path(output).name  # for a link, the place of the link itself
    if place.parent.exists() and not os.access(place.parent, os.W_OK):
        yield
        return
    with alone(place.parent, f"another command is making {output}: wait until it ends", place.name):
        yield
