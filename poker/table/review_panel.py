"""Reviews beside the table: a decision solved, and the biggest mistakes of all hands played here."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import numpy as np
from nicegui import run, ui

from poker.betting import Betting
from poker.cards import PREFLOP_CLASS, PREFLOP_CLASS_SIZE, hand_index
from poker.errors import PokernetsError
from poker.evaluation.review import DecisionReview, Floats, Mistake, Reviews, decisions_of, ends_after
from poker.formats.acpc_log import LoggedHand
from poker.rules import Rules
from poker.state import HandState
from poker.table import words
from poker.table.cells import MOVE_FOCUS, Cell, action_colours, class_grid, heat, mixed

_CONTINUATIONS = ("the blueprint", "fold more", "call more", "raise more")
_SHOWN_MISTAKES = 50
AT_THE_TABLE = (
    "EV: chips won from here on, a fold being 0, against the range that the agent has here. The solve is one of the"
    " agent's own, with its accuracy."
)
"""What the numbers of a review mean."""


@dataclass(frozen=True)
class Kept:
    """Hands that were played, and the reviews of what the player `name` did in them; `rules` are those of a hand."""

    reviews: Reviews
    hands: Callable[[], list[LoggedHand]]
    rules: Callable[[int], Rules]
    name: str


class ReviewPanel:
    """The decisions of one hand, one of them solved and shown, with `note`; before that the `invitation`. `opened` is
    called before a hand is."""

    def __init__(self, reviews: Reviews, opened: Callable[[], object], invitation: str, note: str) -> None:
        self._reviews, self._opened, self._note = reviews, opened, note
        self._asked = 0
        self._buttons: dict[HandState, ui.button] = {}
        """By decision as the person saw it."""
        with ui.element("div").classes("review"):
            self._title = ui.html(f"<p>{escape(reviews.why_not or invitation)}</p>", sanitize=False)
            self._choices = ui.element("div").classes("line").props('role=group aria-label="Decisions of the hand"')
            self._shown = ui.html("", sanitize=False).props('aria-live="polite"').on("keydown", js_handler=MOVE_FOCUS)

    async def open(self, number: int, state: HandState, seat: int, at: str | None = None) -> None:
        """The hand as the person has seen it: the decision after the betting `at`, else one to come, else the first
        that is reviewed."""
        self._opened()
        ui.run_javascript(f"getHtmlElement({self._title.id})?.scrollIntoView({{block: 'nearest'}})")
        self._title.set_content(f"<h2>Hand {number + 1}: {words.small_cards(state.rules, state.hole_cards[seat])}</h2>")
        choices: list[tuple[HandState, int | None]] = list(decisions_of(state, seat))
        if state.to_act == seat:
            choices.insert(0, (state.view(seat), None))
        self._choices.clear()
        self._buttons.clear()
        with self._choices:
            for view, action in choices:
                what = "now" if action is None else words.action_name(view.betting, action)
                name = f"{words.STREETS[view.street]}: {what}"
                button = ui.button(name, on_click=partial(self._decision, view, action)).props("no-caps dense outline")
                self._buttons[view] = button
        asked = [one for one in choices if one[0].betting.text() == at]
        reviewed = [one for one in choices if not self._reviews.refusal(one[0])]
        if choices:
            await self._decision(*(asked or reviewed or choices)[0])
        else:
            self._shown.set_content("<p>You had no decision in this hand.</p>")

    async def _decision(self, view: HandState, action: int | None) -> None:
        self._asked = asked = self._asked + 1
        for other, button in self._buttons.items():
            if other == view:
                button.props("aria-pressed=true", remove="outline")
            else:
                button.props("aria-pressed=false outline")
        self._shown.set_content('<p role="status">Solving …</p>')
        found, error = await _tried(self._reviews.decision, view, action)
        if asked == self._asked:
            failed = f'<p role="alert">{escape(error)}</p>'
            self._shown.set_content(failed if found is None else decision_html(found, self._note))


class MistakesPanel:
    """What decisions have cost; reviews hands that are not reviewed yet when asked to."""

    def __init__(self, kept: Kept, open_hand: Callable[[int, HandState, int, str], Awaitable[None]]) -> None:
        self._kept, self._open = kept, open_hand
        self._stopped = True
        with ui.element("div").classes("review"):
            with ui.element("div").classes("line"):
                self._button = ui.button("Review all my hands", on_click=self._run).props("no-caps color=primary")
                self._button.set_enabled(not kept.reviews.why_not)
                self._progress = ui.label().props("role=status")
            self._list = ui.element("div").classes("mistakes")
        self._show()

    async def _run(self) -> None:
        """Reviews hand after hand, or stops doing so."""
        if not self._stopped:
            self._stopped = True
            return
        self._stopped = False
        self._button.set_text("Stop")
        hands = await run.io_bound(self._missing) or []
        for done, hand in enumerate(hands):
            self._progress.set_text(f"{done} of {len(hands)} hands")
            seat = hand.names.index(self._kept.name)
            _, error = await _tried(self._kept.reviews.hand, hand.number, hand.state, seat)
            if error:
                self._progress.set_text(error)
                break
            if self._stopped or self._button.is_deleted:
                break
            self._show()
        else:
            self._progress.set_text("All hands are reviewed.")
        self._stopped = True
        self._button.set_text("Review all my hands")

    def _missing(self) -> list[LoggedHand]:
        return self._kept.reviews.missing(self._kept.hands(), self._kept.name)

    def _show(self) -> None:
        mistakes = [one for one in self._kept.reviews.mistakes() if one.loss > 0][:_SHOWN_MISTAKES]
        self._list.clear()
        with self._list:
            for one in mistakes:
                ui.button(mistake_text(one, self._kept.rules(one.hand)), on_click=partial(self._look, one)).props(
                    "no-caps flat dense align=left"
                )

    async def _look(self, one: Mistake) -> None:
        hands = await run.io_bound(self._kept.hands) or []
        for hand in hands:
            if hand.number == one.hand:
                seat = hand.names.index(self._kept.name)
                await self._open(one.hand, hand.state.view(seat), seat, one.betting)


async def _tried(solve: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """The result and no text, or nothing and what went wrong."""
    try:
        return await run.io_bound(solve, *arguments), ""
    except (PokernetsError, OSError) as error:
        return None, str(error)


def mistake_text(one: Mistake, rules: Rules) -> str:
    betting = Betting.parse(rules, one.betting)
    chosen, best = (words.action_name(betting, betting.parse_action(text)) for text in (one.chosen, one.best))
    where = f"hand {one.hand + 1}, {one.cards}, {words.STREETS[betting.street].lower()}"
    return f"{one.loss / rules.big_blind:.2f} bb: {where}: {chosen}, best {best}"


def decision_html(one: DecisionReview, note: str) -> str:
    """Actions with frequency and EV, what was lost, the grids, and the note."""
    names = [words.action_name(one.betting, action) for action in one.actions]
    shades = action_colours(names)
    held = int(PREFLOP_CLASS[hand_index(*one.cards)])
    big_blind = one.betting.rules.big_blind
    rows = "".join(
        f"<tr{' class=chosen' if action == one.chosen else ''}><th scope=row>"
        f'<span class="shade" style="background: {shade}"></span>{name}{" (you)" if action == one.chosen else ""}</th>'
        f"<td>{share:.0%}</td><td>{ev + 0.0:,.1f}</td><td>{ev / big_blind + 0.0:+.2f}</td></tr>"
        for action, name, shade, share, ev in zip(
            one.actions, names, shades, one.frequencies, one.evs.round(1), strict=True
        )
    )
    lost = ""
    if one.loss is not None:
        best = words.action_name(one.betting, one.best)
        lost = f"<p><b>Lost {one.loss:,.1f} chips ({one.loss / big_blind:.2f} bb)</b>; best: {best}.</p>"
    board = ""
    if one.board:
        cards = words.small_cards(one.betting.rules, one.board)
        board = f"<p>Board {cards}, pot {words.chips(one.betting.pot)}</p>"
    heads = "".join(f"<th>{head}</th>" for head in ("action", "solver", "EV, chips", "bb"))
    return (
        f"{board}<table class=actions><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{lost}"
        f"{_ends_html(one, names)}<h3>What sound play does with your hands</h3>{_legend(names, shades)}"
        f"{class_grid(strategy_cells(names, one.grid, held), 'Strategy by class of hand')}"
        "<h3>What the agent takes you to hold</h3>"
        f"{class_grid(range_cells(one.believed, held), 'Your range as the agent sees it')}"
        f"<p class=quiet>{escape(note)}</p>"
    )


def strategy_cells(names: Sequence[str], shares: Floats, held: int) -> list[Cell]:
    """How often each action is taken: `shares` [169, A], NaN where nobody can hold the class; `held` is marked."""
    colours = action_colours(names)
    return [
        Cell("", "", "cannot be held", held=number == held)
        if np.isnan(row).any()
        else Cell(
            mixed(row.tolist(), colours, 1.0),
            "",
            ", ".join(f"{name} {share:.0%}" for name, share in zip(names, row, strict=True) if share >= 0.005),
            held=number == held,
        )
        for number, row in enumerate(shares)
    ]


def range_cells(shares: Floats, held: int) -> list[Cell]:
    """What a range is made of: `shares` [169] of its classes; its likeliest hands are the hottest."""
    each = shares / PREFLOP_CLASS_SIZE
    most = max(float(each.max()), 1e-30)
    return [
        Cell(heat(float(one), 0.0, most), "", f"{share:.2%} of the range", held=number == held)
        for number, (one, share) in enumerate(zip(each, shares, strict=True))
    ]


def _legend(names: Sequence[str], shades: Sequence[str]) -> str:
    parts = (
        f'<span class="shade" style="background: {shade}"></span>{escape(name)}'
        for name, shade in zip(names, shades, strict=True)
    )
    return f'<p class="legend">{" ".join(parts)}</p>'


def _ends_html(one: DecisionReview, names: list[str]) -> str:
    """The continuations where an action leads to the depth limit."""
    found = [(name, ends_after(one, action)) for name, action in zip(names, one.actions, strict=True)]
    rows = [(name, values) for name, values in found if values is not None and len(values) > 1]
    if not rows:
        return ""
    count = len(rows[0][1])
    heads = _CONTINUATIONS if count == len(_CONTINUATIONS) else tuple(f"{k + 1}" for k in range(count))
    body = "".join(
        f"<tr><th scope=row>{name}</th>"
        + "".join(
            f"<td{' class=chosen' if k == np.argmax(values) else ''}>{ev:,.0f}</td>" for k, ev in enumerate(values)
        )
        + "</tr>"
        for name, values in rows
    )
    return (
        "<h3>At the depth limit</h3><p class=quiet>EV if the round ends after the action (called, if it is a bet) and"
        " you go on by one of these continuations, of which the solver lets you pick.</p>"
        f"<table class=actions><thead><tr><th></th>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
