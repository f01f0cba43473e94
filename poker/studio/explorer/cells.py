"""Grids of the 169 classes of hands and of the 52 cards as HTML, with aces at the top left and suited hands above.

`explorer.js` handles events at a cell, which it identifies by its class or card.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

from poker.game.cards import NUM_RANKS, NUM_SUITS, RANKS, class_text
from poker.studio.pages.words import SUIT_SYMBOLS

CELL_OF, MOVE_FOCUS = "(e) => tellCell(e, emit)", "(e) => moveFocus(e)"
"""JavaScript handlers: send the class or card of the cell of an event; move from cell to cell by arrow keys."""

OUT = "not in the range"
_FOLD, _CALL = "var(--fold)", "var(--call)"
_RAISES = ("var(--raise-1)", "var(--raise-2)", "var(--raise-3)", "var(--raise-4)", "var(--raise-5)")


@dataclass(frozen=True)
class Cell:
    """A cell of a grid.

    Attributes:
        background: CSS background; empty if there is nothing to show.
        text: text below the name.
        label: text for screen readers.
        weight: weight of the class, which scripts read.
        held: whether the cell is outlined because it has the player's hand.
    """

    background: str
    text: str
    label: str
    weight: str = ""
    held: bool = False


def action_colours(actions: Sequence[str]) -> list[str]:
    """Return the colours of actions: fold blue, check and call green, bets red and darker as they grow.

    Args:
        actions: names that begin with the verb, with bets in ascending order.
    """
    kinds = {"fold": _FOLD, "check": _CALL, "call": _CALL}
    bets = [action for action in actions if action.split()[0] not in kinds]
    darker = len(_RAISES) - 1
    shades = {
        bet: _RAISES[darker if len(bets) == 1 else round(place * darker / (len(bets) - 1))]
        for place, bet in enumerate(bets)
    }
    return [shades.get(action) or kinds[action.split()[0]] for action in actions]


def strategy_cell(
    names: Sequence[str], shares: Sequence[float], height: float, none: str = "", least: float = 0.0, held: bool = False
) -> Cell:
    """Return the cell of a strategy.

    Args:
        names: names of the actions.
        shares: probabilities of the actions; NaN if unknown.
        height: height of the colours, from 0 to 1.
        none: label if the shares are NaN.
        least: smallest share that the label lists.
        held: whether the cell is outlined.
    """
    if any(map(isnan, shares)):
        return Cell("", "", none, held=held)
    text = ", ".join(f"{name} {share:.0%}" for name, share in zip(names, shares, strict=True) if share >= least)
    return Cell(mixed(shares, action_colours(names), height), "", text, held=held)


def mixed(shares: Iterable[float], colours: Sequence[str], height: float) -> str:
    """Return CSS with colours side by side in proportion to `shares`, from the bottom up to `height` (0 to 1)."""
    stops, at = [], 0.0
    for share, colour in zip(shares, colours, strict=True):
        stops.append(f"{colour} {100 * at:.1f}% {100 * (at + share):.1f}%")
        at += share
    return _layer(f"to right, {', '.join(stops)}", max(height, 0.15))


def filled(share: float) -> str:
    """Return CSS that fills a cell from the bottom up to `share`, in the colour of hands in a range."""
    return _layer("var(--in), var(--in)", share)


def _layer(gradient: str, height: float) -> str:
    return f"linear-gradient({gradient}) bottom / 100% {100 * height:.0f}% no-repeat, var(--cell)"


def heat(value: float, least: float, most: float) -> str:
    """Return a CSS colour from cold at `least` to hot at `most`; empty for NaN."""
    if isnan(value):
        return ""
    place = 0.5 if most <= least else (value - least) / (most - least)
    return f"color-mix(in oklab, var(--hot) {100 * place:.0f}%, var(--cold))"


def class_grid(cells: Sequence[Cell], label: str) -> str:
    """Return the HTML of [169] cells, by class of hands."""
    order = [row * NUM_RANKS + column for row in reversed(range(NUM_RANKS)) for column in reversed(range(NUM_RANKS))]
    return _grid([(number, class_text(number), cells[number]) for number in order], label, "hands")


def card_sheet(cells: Sequence[Cell | None], label: str) -> str:
    """Return the HTML of [52] cells by card, one suit per row; None for cards that cannot come."""
    order = [rank * NUM_SUITS + suit for suit in reversed(range(NUM_SUITS)) for rank in reversed(range(NUM_RANKS))]
    named = [(card, RANKS[card // NUM_SUITS] + SUIT_SYMBOLS[card % NUM_SUITS], cells[card]) for card in order]
    return _grid(named, label, "cards")


def _grid(named: Sequence[tuple[int, str, Cell | None]], label: str, kind: str) -> str:
    rows = []
    for start in range(0, len(named), NUM_RANKS):
        row = enumerate(named[start : start + NUM_RANKS])
        cells = (_cell(*one, first=not start and not place) for place, one in row)
        rows.append(f'<div role="row" class="cell-row">{"".join(cells)}</div>')
    return f'<div role="grid" class="cells {kind}" aria-label="{escape(label)}">{"".join(rows)}</div>'


def _cell(number: int, name: str, cell: Cell | None, *, first: bool) -> str:
    if cell is None:
        return f'<div role="gridcell" class="cell dead" aria-label="{name}: on the board">{name}</div>'
    style = f' style="background: {cell.background}"' if cell.background else ""
    classes = "cell" if cell.background else "cell empty"
    data = f'data-c="{number}" data-w="{cell.weight}" tabindex="{0 if first else -1}"{style}'
    data += " data-held" if cell.held else ""
    label, text = escape(f"{name}: {cell.label}"), escape(cell.text)
    labelled = f'aria-label="{label}" title="{label}"'
    return f'<div role="gridcell" class="{classes}" {data} {labelled}><b>{name}</b><span>{text}</span></div>'
