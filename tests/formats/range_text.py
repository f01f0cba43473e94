"""Ranges as text that `poker.formats.ranges.parse_range` reads back, for round trips."""

import numpy as np

from poker.cards import PREFLOP_CLASS, class_text, hand_text
from poker.formats.ranges import Weights


def range_text(weights: Weights) -> str:
    """Text that `parse_range` reads back to the same float32 weights; whole classes and runs of them where possible."""
    values = np.asarray(weights, np.float32)
    by_class: dict[int, np.float32] = {}
    singles: list[str] = []
    for number in range(169):
        inside = np.flatnonzero(number == PREFLOP_CLASS)
        if (values[inside] == values[inside[0]]).all():
            by_class[number] = values[inside[0]]
        else:
            singles += [hand_text(int(h)) + _suffix(values[h]) for h in inside[::-1] if values[h] > 0]
    items = _runs("", [rank * 14 for rank in range(13)], by_class)
    for kind in "so":
        for high in range(12, 0, -1):
            row = [high * 13 + low if kind == "s" else low * 13 + high for low in range(high)]
            items += _runs(kind, row, by_class)
    return ",".join(items + singles)


def _runs(kind: str, row: list[int], by_class: dict[int, np.float32]) -> list[str]:
    """Items of one row of classes, ascending in the kicker or the pair: longest runs of equal weight, highest first."""
    items = []
    end = len(row)
    while end > 0:
        weight = by_class.get(row[end - 1], np.float32(0))
        begin = end - 1
        while begin > 0 and by_class.get(row[begin - 1]) == weight:
            begin -= 1
        if weight > 0:
            low, high = class_text(row[begin]), class_text(row[end - 1])
            whole = low if begin == end - 1 else f"{low}+" if end == len(row) else f"{high}-{low}"
            items.append(whole + _suffix(weight))
        end = begin
    return items


def _suffix(weight: np.float32) -> str:
    return "" if weight == 1 else f":{np.format_float_positional(weight, unique=True, trim='-')}"
