"""Limits on length, depth and number for the parsers of untrusted files.

Real files stay far below them. Without limits a small file can cost gigabytes or hours: the standard library's TOML
parser takes quadratic time in the dots of a line, and a compressed megabyte can unpack to a gigabyte.
"""

import json
import re
import zlib
from decimal import Decimal
from typing import Any

from poker.run.errors import PokernetsError

MOST_FILE_BYTES = 1 << 29
"""Largest size of a file of hands."""
MOST_SPOT_BYTES = 1 << 26
"""Largest size of a spot file, which may contain the results of a solve."""
MOST_DEFINITION_BYTES = 1 << 16
"""Largest size of a game's definition."""
MOST_RANGE_CHARACTERS = 1 << 17
MOST_HAND_CHARACTERS = 1 << 20
MOST_NOTE_BYTES = 1 << 24
"""Largest unpacked size of the probabilities at one decision."""
LONGEST_LINE = 10_000
LONGEST_LOG_LINE = 10_000
"""Most characters in a line of an ACPC log; the ACPC dealer itself stops at 4,096."""
LONGEST_SITE_LINE = 1000
"""Most characters in a line of a site's hand history, since matching takes quadratic time in the worst case."""

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class LimitError(PokernetsError):
    """The input exceeds a limit, which the message names."""


def check_length(text: str | bytes, most: int, what: str) -> None:
    """Check that a text is not too long.

    Args:
        text: characters or bytes.
        most: largest number of characters or bytes.
        what: name of the text in the message.

    Raises:
        LimitError: the text is longer.
    """
    if len(text) > most:
        raise LimitError(
            f"{what} of {len(text):,} {'bytes' if isinstance(text, bytes) else 'characters'}; at most {most:,} allowed"
        )


def parse_json(text: str | bytes, exact: bool = False) -> Any:
    """Parse JSON from an untrusted source.

    Args:
        text: the JSON text.
        exact: whether to return numbers with decimals as `Decimal`.

    Raises:
        LimitError: values are nested too deeply, an object has a key twice, or a text contains a lone surrogate, which
            cannot be written again.
        ValueError: the text is not JSON.
    """
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        value = json.loads(plain, parse_float=Decimal if exact else None, object_pairs_hook=_object)
    except RecursionError:
        raise LimitError("lists and objects are nested too deeply") from None
    if "\\u" in plain and _HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False, default=str)):
        raise LimitError("the text contains a lone surrogate such as \\ud800")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise LimitError(f"the key `{twice[:100]}` is given twice in one object")
    return values


def decompressed(data: bytes, most: int) -> bytes:
    """Decompress zlib data.

    Args:
        data: the compressed bytes.
        most: largest number of unpacked bytes.

    Raises:
        LimitError: the data have more bytes unpacked, or are cut short.
    """
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, most)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise LimitError(f"the compressed data is truncated, or larger than {most:,} bytes")
    return unpacked
