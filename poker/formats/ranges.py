"""Ranges of two-card hands as text, with one weight per hand; errors have the position.

Items are separated by commas, semicolons or white space. Each is `hands` or `hands:weight`. If items overlap, the last
one counts. Hands are written in these ways:

- `AhKd`; `QQ`, `AKs`, `AKo`, or `AK` for both;
- `66+`: this pair and all higher pairs;
- `98s+`: neighbours and all higher neighbours (98s, T9s, ..., AKs);
- `A8s+`: the same first card with this and all higher kickers;
- `QQ-22`, `A5s-A2s` (the kickers between), `T9s-65s` (steps of both ranks);
- the same with suits, such as `8h8s+`;
- `random` for all hands.

White space may surround `-` and `:`. A weight may precede hands in brackets: `50%(AA,KK)` or `.5(AA)`. Exports of other
programs are also read: `[25]AA,KK[/25]` with weights in percent, and 1326 numbers in the order 2d2c 2h2c 2h2d ...
Weights have a decimal point. What may be a decimal comma, as in `AA:0,75`, is refused unless a space follows the comma.

`98s+` has the same meaning as in postflop-solver and similar tools. In others (eval7) it is 98s alone, which needs no
plus.
"""

import re
from collections.abc import Iterable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, RANKS, class_text, hand_index, hand_text, parse_card
from poker.run.errors import PokernetsError
from poker.run.limits import MOST_RANGE_CHARACTERS

Weights = NDArray[np.float32]

_WORD = r"[^,;\s\[\]()]"
_ITEM = re.compile(rf"{_WORD}++\s*+\(|{_WORD}(?:{_WORD}|\s++(?=[-:])|(?<=[-:])\s++)*+|\[/?[^\[\]]*\]|[\[\]()]")
_NUMBER = re.compile(r"(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:e[+-]?[0-9]++)?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<=:)\s*+0,[0-9]++(?![^,;\s\[\]()])|(?<![^,;\s\[\]()])[0-9]++,[0-9]++\s*+%(?=\s*+\()")
_HANDS = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE)
_COMBO = re.compile(r"([2-9TJQKA])([cdhs])([2-9TJQKA])([cdhs])", re.IGNORECASE)


class RangeError(PokernetsError):
    """A range that cannot be parsed; the message has the position, counted from 1."""


def parse_range(text: str) -> Weights:
    """Parse a range.

    Args:
        text: the range.

    Returns:
        float32 [1326] weights from 0 to 1.

    Raises:
        RangeError: the text is not a range.
    """
    if len(text) > MOST_RANGE_CHARACTERS:
        raise RangeError(f"range: a text of {len(text):,} characters; at most {MOST_RANGE_CHARACTERS:,} are allowed")
    weights = np.zeros(NUM_HANDS, np.float32)
    items = list(_ITEM.finditer(text))
    if not items:
        raise RangeError("range: empty text; write hands such as `66+,A8s+,KQo`, or `random`")
    if len(items) == NUM_HANDS and all(re.fullmatch(r"[0-9.eE+-]+", item.group()) for item in items):
        return np.array([_weight(item.group(), item.start()) for item in items], np.float32)
    if comma := _DECIMAL_COMMA.search(text):
        word = comma.group().strip()
        raise _error(word, comma.start(), f"write {word.replace(',', '.')}, or a space after the comma before a hand")
    outer, closing = 1.0, ""
    for item in items:
        word, position = item.group(), item.start()
        if word in (")", "]") or word.startswith("[/"):
            if word != closing:
                opening = {")": "(", "]": "["}.get(word, word.replace("/", "", 1))
                raise _error(word, position, f"`{word}` without `{opening}`")
            outer, closing = 1.0, ""
        elif word.startswith("[") or word.endswith("("):
            if closing:
                raise _error(word, position, "a bracket within another")
            if word == "(":
                raise _error(word, position, "write the weight before `(`, as in `50%(AA,KK)`")
            square = word.startswith("[")
            outer = _percent(word, position) if square else _weight(word[:-1].rstrip(), position)
            closing = f"[/{word[1:]}" if square else ")"
        else:
            hands, colon, weight = word.partition(":")
            if colon and closing:
                raise _error(word, position, "these hands have two weights, before the bracket and inside")
            value = _weight(weight, position + len(hands) + 1) if colon else outer
            weights[_hands(hands.rstrip() or word, position)] = value
    if closing:
        raise RangeError(f"range: the text ends without `{closing}`")
    return weights


def _percent(word: str, position: int) -> float:
    if not word.endswith("]") or len(word) < 3:
        raise _error(word, position, "a weight in percent is written `[25]...[/25]`")
    return _weight(word[1:-1], position + 1, 100.0) / 100.0


def _weight(text: str, position: int, most: float = 1.0) -> float:
    """Return a number up to `most`, or with `%` up to 100."""
    number = text.strip()
    percent = number.endswith("%") and most == 1.0
    match = _NUMBER.fullmatch(number[:-1] if percent else number)
    value = float(match[0]) / (100.0 if percent else 1.0) if match else -1.0
    if not 0.0 <= value <= most:
        raise _error(text, position, f"a weight must be a number from 0 to {most:g}")
    return value


def _error(word: str, position: int, reason: str) -> RangeError:
    return RangeError(f"range, position {position + 1}, at `{word}`: {reason}")


def _hands(text: str, position: int) -> list[int]:
    """Return the indices of the hands of one item without its weight."""
    if text.lower() in ("random", "any", "*"):
        return list(range(NUM_HANDS))
    first, _, last = map(str.strip, text.partition("-"))
    if first and last:
        return _between(text, position, _single(first, position), _single(last, position + text.rindex(last)))
    if text.endswith("+"):
        high, low, kind = _single(text[:-1] or text, position)
        if high - low <= 1:
            return _classes((rank, rank - high + low, kind) for rank in range(high, len(RANKS)))
        return _classes((high, kicker, kind) for kicker in range(low, high))
    return _classes([_single(text, position)])


def _single(text: str, position: int) -> tuple[int, int, str]:
    """Return (high rank, low rank, kind), where kind is `s`, `o`, the suits of both cards, or empty for all."""
    match, combo = _HANDS.fullmatch(text), _COMBO.fullmatch(text)
    if combo:
        cards = sorted(((RANKS.index(combo[i].upper()), combo[i + 1].lower()) for i in (1, 3)), reverse=True)
        if cards[0] == cards[1]:
            raise _error(text, position, "a hand holds two different cards")
        return cards[0][0], cards[1][0], cards[0][1] + cards[1][1]
    if not match:
        raise _error(text, position, "write hands such as AA, AKs, AKo, AK, AhKd, 66+, A8s+, QQ-22 or random")
    high, low = sorted((RANKS.index(rank.upper()) for rank in match.groups()[:2]), reverse=True)
    kind = match.group(3).lower()
    if high == low and kind:
        raise _error(text, position, "a pair is neither suited nor offsuit")
    return high, low, kind


def _between(text: str, position: int, a: tuple[int, int, str], b: tuple[int, int, str]) -> list[int]:
    (high, low, kind), (other_high, other_low, other_kind) = (a, b) if a[:2] >= b[:2] else (b, a)
    if kind == other_kind and (high == low) == (other_high == other_low):
        if high == other_high:
            return _classes((high, kicker, kind) for kicker in range(other_low, low + 1))
        if high - low == other_high - other_low:
            return _classes((rank, rank - high + low, kind) for rank in range(other_high, high + 1))
    raise _error(text, position, "both ends must be pairs, or be alike in suitedness and in high card or gap")


def _classes(classes: Iterable[tuple[int, int, str]]) -> list[int]:
    hands: list[int] = []
    for high, low, kind in classes:
        if len(kind) == 2:
            hands.append(hand_index(parse_card(RANKS[high] + kind[0]), parse_card(RANKS[low] + kind[1])))
            continue
        if kind != "o" and high != low:
            hands.extend(np.flatnonzero(high * 13 + low == PREFLOP_CLASS).tolist())
        if kind != "s" or high == low:
            hands.extend(np.flatnonzero(low * 13 + high == PREFLOP_CLASS).tolist())
    return hands


def range_text(weights: Weights) -> str:
    """Write a range so that `parse_range` reads the same weights, with classes and runs of classes where possible.

    Args:
        weights: float32 [1326] weights.
    """
    values = np.asarray(weights, np.float32)
    by_class: dict[int, np.float32] = {}
    singles: list[str] = []
    for number in range(169):
        inside = np.flatnonzero(number == PREFLOP_CLASS)
        if (values[inside] == values[inside[0]]).all():
            by_class[number] = values[inside[0]]
        else:
            singles += [hand_text(int(h)) + _suffix(values[h]) for h in inside[::-1] if values[h] > 0]
    items = _runs([rank * 14 for rank in range(13)], by_class)
    for kind in "so":
        for high in range(12, 0, -1):
            row = [high * 13 + low if kind == "s" else low * 13 + high for low in range(high)]
            items += _runs(row, by_class)
    return ",".join(items + singles)


def _runs(row: list[int], by_class: dict[int, np.float32]) -> list[str]:
    """Return the items of one row of classes: the longest runs of equal weight, highest first.

    The row ascends in the kicker or the pair.
    """
    items = []
    for weight, run in groupby(reversed(row), lambda number: by_class.get(number, np.float32(0))):
        members = list(run)
        low, high = class_text(members[-1]), class_text(members[0])
        whole = low if len(members) == 1 else f"{low}+" if members[0] == row[-1] else f"{high}-{low}"
        items += [whole + _suffix(weight)] * bool(weight > 0)
    return items


def _suffix(weight: np.float32) -> str:
    return "" if weight == 1 else f":{np.format_float_positional(weight, unique=True, trim='-')}"
