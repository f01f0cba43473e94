"""The 169 classes of two cards as tables of a page: aces at the top left, suited hands above the diagonal."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from poker.cards import NUM_RANKS, PREFLOP_CLASS_SIZE, class_text
from poker.rules import CALL, FOLD

Floats = NDArray[np.float64]
_FOLD, _CALL = "#64748b", "#15803d"
_RAISES = ("#f59e0b", "#ea580c", "#dc2626", "#a21caf", "#6d28d9", "#1e3a8a")


def colours(actions: Sequence[int]) -> list[str]:
    """Of folding, of calling, and of raises from the smallest on."""
    raises = sorted(action for action in actions if action > 0)
    named = {FOLD: _FOLD, CALL: _CALL} | {total: _RAISES[min(i, len(_RAISES) - 1)] for i, total in enumerate(raises)}
    return [named[action] for action in actions]


def strategy_grid(label: str, names: Sequence[str], shades: Sequence[str], shares: Floats, held: int) -> str:
    """How often each action is taken: `shares` [169, A], NaN for classes that nobody can hold; `held` is marked."""
    cells = []
    for number, row in enumerate(shares):
        if np.isnan(row).any():
            cells.append(_cell(number, "cannot be held", "", number == held))
            continue
        stops, left = [], 0.0
        for share, shade in zip(row, shades, strict=True):
            stops.append(f"{shade} {left:.0%} {left + share:.0%}")
            left += share
        told = ", ".join(f"{name} {share:.0%}" for name, share in zip(names, row, strict=True) if share >= 0.005)
        cells.append(_cell(number, told, f"linear-gradient(90deg, {', '.join(stops)})", number == held))
    return _table(label, cells)


def range_grid(label: str, shares: Floats, held: int) -> str:
    """What a range is made of: `shares` [169] of its classes; the darkest hands are its likeliest."""
    each = shares / PREFLOP_CLASS_SIZE
    depth = each / max(float(each.max()), 1e-30)
    cells = [
        _cell(number, f"{shares[number]:.2%} of the range", f"rgb(180 83 9 / {depth[number]:.0%})", number == held)
        for number in range(len(shares))
    ]
    return _table(label, cells)


def legend(names: Sequence[str], shades: Sequence[str]) -> str:
    parts = (
        f'<span class="shade" style="background: {shade}"></span>{escape(name)}'
        for name, shade in zip(names, shades, strict=True)
    )
    return f'<p class="legend">{" ".join(parts)}</p>'


def _cell(number: int, told: str, background: str, marked: bool) -> str:
    style = f' style="background: {background}"' if background else ' class="none"'
    inner = f"<b>{class_text(number)}</b>" if marked else class_text(number)
    return f'<td{style} title="{class_text(number)}: {escape(told)}"{" data-held" if marked else ""}>{inner}</td>'


def _table(label: str, cells: Sequence[str]) -> str:
    """Class row * 13 + column has the lower left corner at 0."""
    places = range(NUM_RANKS - 1, -1, -1)
    rows = "".join(f"<tr>{''.join(cells[row * NUM_RANKS + column] for column in places)}</tr>" for row in places)
    return f'<table class="hand-grid" aria-label="{escape(label)}"><tbody>{rows}</tbody></table>'
