"""One command at a time makes an artifact."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poker.run.lock import alone


@contextmanager
def claimed(output: str) -> Iterator[None]:
    """Keep other commands from making `output` inside the block.

    The claim lies beside the output, where every command that makes it finds it. Nothing is made in a folder that
    nobody may write to.

    Raises:
        PokernetsError: another command makes the output.
    """
    place = Path(output).parent.resolve() / Path(output).name  # of a link, its own place
    if place.parent.exists() and not os.access(place.parent, os.W_OK):
        yield
        return
    with alone(place.parent, f"another command makes {output} just now: wait for its end", place.name):
        yield
