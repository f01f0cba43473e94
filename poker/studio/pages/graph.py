"""A graph of what was won so far, hand by hand, as SVG with axes."""

from collections.abc import Sequence
from itertools import accumulate
from math import ceil, floor, log10

_SIZE = (600, 240)
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 24, 28, 44
_POINTS = 500
_TICKS = 5


def won_graph(nets: Sequence[float]) -> str:
    """SVG of the sum of `nets`, big blinds won hand by hand."""
    sums = [0.0, *accumulate(nets)]
    heights = ticks(min(sums), max(sums))
    step = max(1, len(sums) // _POINTS)
    places = [*range(0, len(sums) - 1, step), len(sums) - 1]
    (width, height), least, most = _SIZE, min(*sums, heights[0]), max(*sums, heights[-1])

    def x(hand: float) -> float:
        return _LEFT + hand / len(nets) * (width - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return height - _BOTTOM - (value - least) / max(most - least, 1e-9) * (height - _TOP - _BOTTOM)

    label = f"Big blinds won over {len(nets):,} hands: {sums[-1]:+.1f}, least {min(sums):+.1f}, most {max(sums):+.1f}"
    lines = "".join(
        f'<line x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
        f'class="{"grid" if value else "zero"}"/>'
        f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,g}</text>'
        for value in heights
    )
    hands = "".join(
        f'<text x="{x(hand):.1f}" y="{height - _BOTTOM + 18}" text-anchor="middle">{hand:,.0f}</text>'
        for hand in ticks(0, len(nets))
        if hand == int(hand) and hand <= len(nets)
    )
    points = " ".join(f"{x(place):.1f},{y(sums[place]):.1f}" for place in places)
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}" class="graph">{lines}{hands}'
        f'<text x="4" y="14">bb won</text>'
        f'<text x="{width - _RIGHT}" y="{height - 4}" text-anchor="end">hands</text>'
        f'<polyline points="{points}"/></svg><p class=quiet>{label}</p>'
    )


def ticks(least: float, most: float) -> list[float]:
    """Round numbers at equal distances, the first at `least` or below it, the last at `most` or above."""
    span = max(most - least, 1e-9)
    unit = 10.0 ** floor(log10(span / _TICKS))
    step = next(unit * factor for factor in (1, 2, 5, 10) if span / (unit * factor) <= _TICKS)
    return [round(step * place, 10) for place in range(floor(least / step), ceil(most / step) + 1)]
