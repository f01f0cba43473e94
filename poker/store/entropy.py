"""Secret random seeds, from which the cards of games with other people are dealt."""

import json
import secrets
from pathlib import Path

from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError


def drawn_seed(seed: int | None) -> int:
    """Return the seed, or 128 random bits from the operating system if it is None."""
    return secrets.randbits(128) if seed is None else seed


def stored_seed(path: Path, seed: int | None = None) -> int:
    """Return the seed stored in a file, creating the file if it does not exist.

    Args:
        path: file of the seed, readable only by its owner.
        seed: seed of a new file; None draws 128 random bits.

    Raises:
        PokernetsError: the file does not contain a whole number.
    """
    if not path.exists():
        write_atomically(path, json.dumps(drawn_seed(seed)).encode(), mode=0o600)
    try:
        stored = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        stored = None
    if type(stored) is not int or stored < 0:
        raise PokernetsError(
            f"{path} is damaged: it should contain a whole number. Delete it to draw a new secret for the next hands"
        )
    return stored
