"""Limits on length, depth and number for parsers of untrusted files, in one place.

Real files come nowhere near them. Without them a small file can cost gigabytes or hours: the standard library's TOML
parser takes quadratic time in the dots of a line, and a compressed megabyte can unpack to a gigabyte.
"""

import json
import re
import zlib
from decimal import Decimal
from typing import Any

from poker.run.errors import PokernetsError

MOST_FILE_BYTES = 1 << 29
"""Size of a file of hands."""
MOST_SPOT_BYTES = 1 << 26
"""Size of a spot, which may be the results of a solve."""
MOST_DEFINITION_BYTES = 1 << 16
"""Size of the definition of a game."""
MOST_RANGE_CHARACTERS = 1 << 17
MOST_HAND_CHARACTERS = 1 << 20
MOST_NOTE_BYTES = 1 << 24
"""Unpacked size of the probabilities at one decision."""
LONGEST_LINE = 10_000
LONGEST_LOG_LINE = 10_000
"""Characters of a line in a log of the ACPC, whose dealer stops at 4,096."""
LONGEST_SITE_LINE = 1000
"""Characters of a line in the text of a site: matching one takes quadratic time in the worst case."""

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class LimitError(PokernetsError):
    """Input beyond a limit; says which."""


def check_length(text: str | bytes, most: int, what: str) -> None:
    """Refuses a text of more than `most` characters (bytes)."""
    if len(text) > most:
        raise LimitError(
            f"{what} of {len(text):,} {'bytes' if isinstance(text, bytes) else 'characters'}: {most:,} at the most"
        )


def parse_json(text: str | bytes, exact: bool = False) -> Any:
    """JSON whose texts can be written, numbers with decimals as Decimal if `exact`; a LimitError or a ValueError."""
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        value = json.loads(plain, parse_float=Decimal if exact else None)
    except RecursionError:
        raise LimitError("lists and objects are nested too deeply") from None
    if "\\u" in plain and _HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False, default=str)):
        raise LimitError("a text with half a character (a lone surrogate such as \\ud800)")
    return value


def decompressed(data: bytes, most: int) -> bytes:
    """Decompress zlib data; a LimitError if it has more than `most` bytes unpacked or is cut short."""
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, most)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise LimitError(f"compressed data of more than {most:,} bytes, or cut short")
    return unpacked
