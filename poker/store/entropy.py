"""Seeds that nobody at the table can know: cards of strangers' games are dealt from them."""

import json
import secrets
from pathlib import Path

from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError


def drawn_seed(seed: int | None) -> int:
    """The seed, or 128 random bits of the system where none is given."""
    return secrets.randbits(128) if seed is None else seed


def stored_seed(path: Path, seed: int | None = None) -> int:
    """The seed in the file `path`, written with `drawn_seed` where it is missing, for its owner alone to read."""
    if not path.exists():
        write_atomically(path, json.dumps(drawn_seed(seed)).encode(), mode=0o600)
    try:
        stored = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        stored = None
    if type(stored) is not int or stored < 0:
        raise PokernetsError(
            f"{path} is damaged: it should be a whole number; delete it and another secret is drawn, from which the"
            " hands to come are dealt"
        )
    return stored
