"""Hand histories of other programs and sites, recognised by content: PHH, OHH, texts of poker sites and ACPC logs.

Every hand is read into a `PlayedHand`, checked by the rules, and can be written in each format that can represent it.
Errors in reading are `HistoryError` with file, line and reason.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

from poker.formats import ohh, ohh_read, phh, phh_read
from poker.formats.acpc import tables as acpc_tables
from poker.formats.played import HistoryError, LineError, PlayedHand
from poker.formats.sites import bovada, partypoker, pokerstars, pokerstars_read, winamax
from poker.formats.sites.lines import SiteLines
from poker.game.rules import Rules
from poker.run.atomic import written_atomically
from poker.run.errors import PokernetsError
from poker.run.limits import MOST_FILE_BYTES, LimitError, check_length

ACPC, PHH, POKERSTARS, BOVADA, WINAMAX, PARTY, OHH = (
    *("acpc", "phh", "pokerstars", "bovada"),
    *("winamax", "partypoker", "ohh"),
)
FORMATS = (PHH, POKERSTARS, ACPC, OHH)
"""Formats that can be written. Texts of sites other than PokerStars are only read."""
KNOWN = "text of PokerStars, Bovada, Winamax, partypoker or 888, PHH, OHH, ACPC logs"
UNFORESEEN = "what its reader does not foresee"
SUFFIXES = {PHH: ".phhs", POKERSTARS: ".txt", ACPC: ".log", OHH: ".ohh"}

_SITES: dict[str, tuple[Callable[[str], Iterable[tuple[int, list[str]]]], type[SiteLines]]] = {
    PARTY: (partypoker.hands, partypoker.PartyLines),
    BOVADA: (bovada.hands, bovada.BovadaLines),
    WINAMAX: (winamax.hands, winamax.WinamaxLines),
    POKERSTARS: (pokerstars_read.hands, pokerstars_read.PokerStarsLines),
}
"""Sites in the order in which headers are tried: a function that splits a text into hands, and the reader of a hand."""

_OTHER_HAND = re.compile(
    r"[\s\ufeff>]*(?:\*{3,} ?(?!End\b)[^*]{0,40}\b(?:[Hh]and|[Hh]istory)\b[^*]{0,60}[0-9][^*]{0,40}\*{3}"
    r"|(?:[A-Z][\w.']* ){0,4}(?:Hand|Game|Stage|HAND|GAME) ?#\w*[0-9]"
    r"|<(?:game|Game|HISTORY)\b|\{\s*\"ohh\"|[\"']?variant[\"']?\s*=|(?:MATCH)?STATE:)"
)
"""Pattern of the beginning of a line that begins a hand of any site or format."""
_OTHER_MARKS = ("<game", "<Game", "<HISTORY", '"ohh"', "variant", "STATE:")
"""Parts of texts in which lines without `#` or `*****` may begin a hand."""
_SHORTEST_HAND = 3
"""Fewest lines of a hand of another site; fewer are a title."""
_TOML = re.compile(r"\[[^\[\]]+\]\s*(#.*)?|([\w-]+|\"[^\"]*\"|'[^']*')\s*=.*")
_VARIANT = re.compile(r"^[ \t]*[\"']?variant[\"']?[ \t]*=", re.MULTILINE)
_STATE = re.compile(r"(STATE|MATCHSTATE|SCORE):")
_MARKS = re.compile("^(?:\ufeff|\u00ef\u00bb\u00bf)+", re.MULTILINE)
"""Byte order marks, including marks inside joined files and marks decoded as Windows-1252."""
_DEALT = re.compile(r"^Dealt to (.*) \[[^]\n]*]", re.MULTILINE)
_SAMPLE = 4096
"""Number of bytes of a part that are examined for UTF-16."""
_NARROW_RUN = 200
"""Least number of bytes without a zero that are not UTF-16, where at least every hundredth character is ASCII."""
_WIDE_MARK = re.compile(rb"\xff\xfe|\xfe\xff")
_SINGLE_BYTES = {0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(128, 256)}
"""Characters for bytes that are not UTF-8."""


def read_text(path: Path, most: int = -1) -> str:
    """Read a file as text.

    Args:
        path: path of the file.
        most: number of bytes to read; -1 for all.

    Raises:
        PokernetsError: the file cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most if most >= 0 else MOST_FILE_BYTES + 1)
        check_length(data, MOST_FILE_BYTES, "a file")
    except OSError as error:
        raise PokernetsError(f"{path} cannot be read: {error.strerror or error}") from error
    except LimitError as error:
        raise PokernetsError(f"{path}: {error}") from error
    return text_of(data)


def text_of(data: bytes) -> str:
    """Decode the bytes of a file, with a single newline character at the end of each line.

    The encoding may be UTF-8 or UTF-16, with or without byte order marks, and may change from line to line in joined
    files. Bytes that are not UTF-8 are read as Windows-1252 or Latin-1.
    """
    texts, start, end = list[str](), 0, 0
    for first, last in _narrow_runs(data):
        first += (first - end) % 2  # the second byte of a newline of UTF-16-BE
        if _wide_encoding(data[end:first]):
            marks = (match.start() for match in _WIDE_MARK.finditer(data, end + 1, first))
            places = [end, *(place for place in marks if data[place - 2 : place] in (b"\n\0", b"\0\n")), first]
            wide = (data[begin:after] for begin, after in pairwise(places))
            texts += [_narrow(data[start:end]), *(part.decode(_wide_encoding(part), "replace") for part in wide)]
            start = first
        end = last
    text = "".join([*texts, _narrow(data[start:])])
    return _MARKS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _narrow_runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Iterate over the starts and ends of parts that cannot be UTF-16, and at last the end of the data."""
    start = 0
    while start + _NARROW_RUN <= len(data):
        zero = data.rfind(b"\0", start, start + _NARROW_RUN)
        if zero >= 0:
            start = zero + 1
            continue
        zero = data.find(b"\0", start)
        if zero < 0:
            yield start, len(data)
            return
        mark = max(data.rfind(mark, zero - 3, zero) for mark in (b"\xff\xfe", b"\xfe\xff"))
        yield start, mark if mark >= 0 else data.rfind(b"\n", start, zero) + 1 or start  # UTF-16 starts with its line
        start = zero
    yield len(data), len(data)


def _narrow(data: bytes) -> str:
    """Decode bytes that are not UTF-16."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape").translate(_SINGLE_BYTES)


def _wide_encoding(data: bytes) -> str:
    """Return the kind of UTF-16, recognised by a mark or by the positions of zero bytes; empty for other encodings."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    zeros = [data[start:_SAMPLE:2].count(0) for start in (0, 1)]
    if max(zeros) <= min(len(data), _SAMPLE) // 4:
        return ""
    return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"


def format_of(text: str, path: Path | str) -> str:
    """Recognise the format of a text; lines before the first header of a site's hand are ignored.

    Args:
        path: name of the file, for errors.

    Raises:
        HistoryError: the text has no hand in a known format.
    """
    lines = ((number, raw.strip().lstrip("\ufeff")) for number, raw in enumerate(text.split("\n"), 1))
    headers = (
        (number, line)
        for number, line in lines
        if line and (not line.startswith(("#", "*")) or partypoker.PartyLines.header(line))
    )
    for number, line in headers:
        if _STATE.match(line):
            return ACPC
        site, is_toml = _site(line), _TOML.fullmatch(line)
        if not site and line.startswith("{"):
            return OHH
        if not (site or (is_toml and _VARIANT.search(text))):
            site = next(filter(None, (_site(later) for _, later in headers)), "")
        if site or is_toml:
            return site or PHH
        if _OTHER_HAND.match(line):
            what = "hands of another site"
        elif "PokerStars" in line:
            what = "only English is supported in PokerStars' text: set this language for hand histories"
        else:
            what = f"no hands that are read here ({KNOWN})"
        raise HistoryError(path, number, f"{what}: `{line[:60]}`")
    raise HistoryError(path, 1, "the file has no hands")


def _site(line: str) -> str:
    """Return the site whose hands begin with this line, empty for other lines."""
    return next((site for site, (_, lines) in _SITES.items() if lines.header(line)), "")


def owner(text: str, seen: Counter[str]) -> str:
    """Guess the player who owns a file of hands.

    It is the player with the most `Dealt to` lines, then `Hero`, then the player whose cards are known most often.

    Args:
        text: text of the file.
        seen: number of hands with known cards, by player.

    Returns:
        The name; empty if nobody's cards are known.
    """
    dealt = Counter(_DEALT.findall(text))
    return max(seen, key=lambda name: (dealt[name], name == bovada.HERO, seen[name]), default="")


def read_hands(
    path: Path, game: Rules | None = None, refused: Callable[[HistoryError], None] | None = None
) -> Iterator[PlayedHand]:
    """Iterate over the hands of a file; see `hands_of`.

    Args:
        path: path of the file.
        game: game of an ACPC log that does not define its own.
        refused: receives the errors of unreadable hands; None to stop at the first one.

    Raises:
        HistoryError: a hand cannot be read, and `refused` is None; or the format is unknown.
        PokernetsError: the file cannot be read.
    """
    return hands_of(read_text(path), path, game, refused)


def hands_of(
    text: str, path: Path | str, game: Rules | None = None, refused: Callable[[HistoryError], None] | None = None
) -> Iterator[PlayedHand]:
    """Iterate over the hands of a text.

    Args:
        path: name of the file, for errors.
        game: game of an ACPC log that does not define its own.
        refused: receives the errors of unreadable hands; None to stop at the first one.

    Raises:
        HistoryError: a hand cannot be read, and `refused` is None; or the format is unknown.
    """
    for hand in _all_hands(text, format_of(text, path), path, game):
        if isinstance(hand, PlayedHand):
            yield hand
        elif refused is None:
            raise hand
        else:
            refused(hand)


def _all_hands(text: str, kind: str, path: Path | str, game: Rules | None) -> Iterator[PlayedHand | HistoryError]:
    """Iterate over the hands of a text; an error of any kind takes the place of its hand."""
    for line, parse in _parsers(text, kind, game):
        try:
            yield parse()
        except MemoryError:
            raise
        except LineError as error:
            yield HistoryError(path, error.line, str(error))
        except PokernetsError as error:
            yield HistoryError(path, line, str(error))
        except Exception as error:
            yield HistoryError(path, line, f"{UNFORESEEN} ({type(error).__name__}: {str(error)[:200]})")


def _parsers(text: str, kind: str, game: Rules | None) -> Iterator[tuple[int, Callable[[], PlayedHand]]]:
    """Iterate over the first line of each hand, with a function that reads the hand."""
    if kind == ACPC:
        yield from acpc_tables.hands(text, game)
    elif kind in _SITES:
        for before, site, part in _of_each_site(text, kind):
            if site in _SITES:
                split, reader = _SITES[site]
                for line, lines in split(part):
                    yield before + line, partial(reader.parse, lines, before + line)
            elif sum(map(bool, map(str.strip, part.split("\n")))) >= _SHORTEST_HAND:
                yield before + 1, partial(_refuse, part.partition("\n")[0].strip())
    else:
        tables, parse = (phh_read.tables, phh_read.parse_hand) if kind == PHH else (ohh_read.hands, ohh_read.parse_hand)
        for number, (line, part) in enumerate(tables(text)):
            yield line, partial(parse, part, number, line)


def _refuse(header: str) -> PlayedHand:
    raise PokernetsError(
        f"`{header[:60]}` begins a hand that is not read in this file: only hands of PokerStars and its kin, Bovada,"
        " Winamax, partypoker and 888 can share a file"
    )


def _of_each_site(text: str, site: str) -> Iterator[tuple[int, str, str]]:
    """Split a text into parts with hands of one site each: number of lines before the part, site and text.

    A hand of another site or format is a part of its own, whose site is empty.
    """
    lines, start = text.split("\n"), 0
    has_others = any(mark in text for mark in _OTHER_MARKS)
    for place, line in enumerate(lines):
        if not ("#" in line or "*****" in line or has_others):
            continue
        header = _site(line.strip())
        if (header and header != site) or (not header and _OTHER_HAND.match(line)):
            yield start, site, "\n".join(lines[start:place])
            start, site = place, header
    yield start, site, "\n".join(lines[start:])


def write_hands(path: Path, kind: str, hands: Iterable[PlayedHand]) -> int:
    """Write a file of hands atomically; an error leaves an existing file unchanged.

    Args:
        path: path of the file.
        kind: format to write.

    Returns:
        The number of hands.

    Raises:
        PokernetsError: the format cannot represent a hand.
    """
    count = 0
    with written_atomically(path) as file:
        for text in hand_texts(kind, hands):
            file.write(text.encode())
            count += 1
    return count


def hand_texts(kind: str, hands: Iterable[PlayedHand]) -> Iterator[str]:
    """Write hands as text.

    Args:
        kind: format to write.

    Yields:
        The text of each hand.

    Raises:
        PokernetsError: the format cannot represent a hand.
    """
    if kind == ACPC:
        yield from acpc_tables.log_texts(hands)
    elif kind == PHH:
        yield from phh.phhs_texts(hands)
    elif kind == OHH:
        yield from map(ohh.hand_text, hands)
    else:
        yield from map(pokerstars.hand_text, hands)


def why_unwritable(kind: str, hand: PlayedHand) -> str:
    """Check that a hand can be written in a format and read back unchanged.

    Args:
        kind: format to write.

    Returns:
        The reason why not; empty if it can.
    """
    try:
        read = list(hands_of("".join(hand_texts(kind, [hand])), "the text"))
    except HistoryError as error:
        return f"the written hand could not be read back: {error.reason}"
    except PokernetsError as error:
        return str(error)
    except Exception as error:
        return f"what its writer does not foresee ({type(error).__name__}: {str(error)[:200]})"
    wanted, *copies = (_essentials(one, kind) for one in (hand, *read))
    other = [name for name in wanted if [copy[name] for copy in copies] != [wanted[name]]]
    return f"what would be written is read back with other {other[0]}" if other else ""


def _essentials(hand: PlayedHand, kind: str) -> dict[str, object]:
    """Return the parts of a hand that a format represents, with amounts in units of the currency (ACPC logs: chips)."""
    betting, unit = hand.state.betting, Fraction(1, 1 if kind == ACPC else hand.scale)
    parts: dict[str, object] = {
        "players": [" ".join(name.split()) for name in hand.names],
        "results": [round(net) * unit for net in hand.payoffs],
        "rake": hand.rake * unit,
        "stacks": [chips * unit for chips in hand.rules.starting_stacks],
        "actions": [(player, action * unit if action > 0 else action) for player, action in betting.moves()],
        "board": (hand.state.board, hand.boards),
    }
    return parts if kind == ACPC else parts | {"cards": (hand.state.hole_cards, hand.mucked)}
