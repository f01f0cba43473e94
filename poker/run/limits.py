"""Limits on length, depth and number for parsers of untrusted files, in one place.

Real files come nowhere near them. Without them a small file can cost gigabytes or hours: the standard library's TOML
parser takes quadratic time in the dots of a key, its JSON parser as much stack as the text is deep, and a compressed
megabyte can unpack to a gigabyte.
"""

import json
import re
import zlib
from collections.abc import Iterable
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
LONGEST_LINE = 100_000
LONGEST_LOG_LINE = 10_000
"""Characters of a line in a log of the ACPC, whose dealer stops at 4,096."""
LONGEST_SITE_LINE = 1000
"""Characters of a line in the text of a site: matching one takes quadratic time in the worst case."""
MOST_DEPTH = 32
"""Levels of nested lists and tables."""
MOST_PARTS = 16
"""Parts of a dotted key."""
MOST_KEYS = 10_000
"""Keys of one hand."""
MOST_DIGITS = 400
"""Digits of a number."""

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_TOML_TEXT = re.compile(
    r"""
    \"{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3})? | '{3}(?:[^']|'(?!''))*+(?:'{3})?  # over several lines
    | "(?:[^"\\\n]|\\.)*+"? | '[^'\n]*+'? | \#[^\n]*
    """,
    re.DOTALL | re.VERBOSE,
)
_TOML_PARTS = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_PARTS},}}")
_BRACKETS = re.compile(r"[\[{]|[\]}]")
_DIGITS = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")


class LimitError(PokernetsError):
    """Input beyond a limit; says which."""


def check_length(text: str | bytes, most: int, what: str) -> None:
    """Refuses a text of more than `most` characters (bytes)."""
    if len(text) > most:
        raise LimitError(
            f"{what} of {len(text):,} {'bytes' if isinstance(text, bytes) else 'characters'}: {most:,} at the most"
        )


def parse_json(text: str | bytes, exact: bool = False) -> Any:
    """JSON of limited depth whose texts can be written, numbers with decimals as Decimal if `exact`; a LimitError or a
    ValueError."""
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    _check_depth(token[0] for token in _JSON_TOKEN.finditer(plain))
    if _DIGITS.search(plain):
        raise LimitError(f"a number of more than {MOST_DIGITS} digits")
    value = json.loads(plain, parse_float=Decimal if exact else None)
    if "\\u" in plain and _HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False, default=str)):
        raise LimitError("a text with half a character (a lone surrogate such as \\ud800)")
    return value


def check_toml(text: str) -> None:
    """Refuses TOML whose parsing could cost more than its length: keys of many parts, depth, numbers of many digits."""
    check_length(text, MOST_HAND_CHARACTERS, "a hand")
    check_length(max(text.split("\n"), key=len), LONGEST_LINE, "a line")
    bare = _TOML_TEXT.sub("s", text)
    if _TOML_PARTS.search(bare):
        raise LimitError(f"a key of more than {MOST_PARTS} parts")
    if bare.count("=") > MOST_KEYS:
        raise LimitError(f"{bare.count('='):,} keys: {MOST_KEYS:,} at the most")
    if _DIGITS.search(bare):
        raise LimitError(f"a number of more than {MOST_DIGITS} digits")
    _check_depth(token[0] for token in _BRACKETS.finditer(bare))


def _check_depth(brackets: Iterable[str]) -> None:
    depth = 0
    for bracket in brackets:
        depth += (bracket in "[{") - (bracket in "]}")
        if depth > MOST_DEPTH:
            raise LimitError(f"lists and tables more than {MOST_DEPTH} deep")


def decompressed(data: bytes, most: int) -> bytes:
    """Decompress zlib data; a LimitError if it has more than `most` bytes unpacked or is cut short."""
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, most)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise LimitError(f"compressed data of more than {most:,} bytes, or cut short")
    return unpacked
