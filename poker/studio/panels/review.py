"""Reviews in the browser: the decisions of a hand, one of them solved and shown."""

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from math import isnan

from nicegui import run, ui

from poker.game.betting import Betting
from poker.game.cards import PREFLOP_CLASS, PREFLOP_CLASS_SIZE, RARE, hand_index
from poker.game.state import HandState
from poker.kernels.types import Floats
from poker.run.errors import PokernetsError
from poker.search.opponent_decision import IMPROBABLE
from poker.studio.explorer.cells import MOVE_FOCUS, Cell, action_colours, class_grid, heat, strategy_cell
from poker.studio.hands.review import Advice, DecisionReview, PlayedDecision, Reviews, decisions_of
from poker.studio.pages import words
from poker.studio.pages.elements import UnitSwitch, html, row

_OFTEN = 0.005
"""Least probability of an action that is listed."""
_SOLVING = '<p role="status">Solving for the review …</p>'
AT_THE_TABLE = "EV: what is won from here on (a fold has 0) against the agent's range."
"""Explanation of the numbers of a review."""
_ERROR = (
    "If there are two EVs, the first assumes the solver's play after the action, the second the best play. ± is their"
    " difference plus the exploitability of the solve, without errors of leaf values. If sound play takes an action of"
    f" the agent with less than {IMPROBABLE:.0%} of its hands, the agent's range is a guess. Then the decision is also"
    " solved against all hands, the strongest and the weakest, and ± covers these solves."
)


class ReviewPanel:
    """Panel of the decisions of one hand, one of them solved and shown.

    Args:
        reviews: solves the decisions.
        unit: switch of the unit of amounts.
        opened: called before a hand is opened, which scrolls to it; None for a panel below the hand.
        invitation: text before a hand is opened.
        note: text below a review.
    """

    def __init__(
        self, reviews: Reviews, unit: UnitSwitch, opened: Callable[[], object] | None, invitation: str, note: str
    ) -> None:
        """Build the elements of the panel."""
        self._reviews, self._unit, self._opened, self._note = reviews, unit, opened, note
        self._invitation = f"<p>{escape(reviews.why_not or invitation)}</p>"
        self._request = 0
        self._hint: tuple[int, str] | None = None
        """Hand and betting of the hint that is shown; None without one."""
        self._opinion: DecisionReview | Advice | None = None
        self.buttons: dict[HandState, tuple[int | None, ui.button]] = {}
        """Action taken (None before that) and button for each decision, as the person saw it."""
        with ui.element("div").classes("review"):
            self.title = html()
            self._choices = row("Decisions of the hand")
            self.answer = html().props('aria-live="polite"').on("keydown", js_handler=MOVE_FOCUS)
        self.title.set_content(self._invitation)
        unit.add(self.title, self._show)

    async def open(self, number: int, state: HandState, seat: int, at: str | None = None) -> None:
        """Open a hand as the person has seen it.

        Args:
            number: number of the hand.
            state: the person's view.
            seat: the person's seat.
            at: betting before the decision to show; None shows one that is still to be made, or else the first that can
                be reviewed.
        """
        if self._opened is not None:
            self._opened()
            ui.run_javascript(f"getHtmlElement({self.title.id})?.scrollIntoView({{block: 'nearest'}})")
        self.title.set_content(f"<h2>Hand {number + 1}: {words.hole_cards(state.rules, state.hole_cards[seat])}</h2>")
        choices: list[tuple[HandState, int | None]] = list(decisions_of(state, seat))
        if state.to_act == seat:
            choices.insert(0, (state.view(seat), None))
        self._hint = (number, state.betting.text()) if state.to_act == seat else None
        self._opinion = None
        self._choices.clear()
        self.buttons.clear()
        with self._choices:
            for view, action in choices:
                button = ui.button(on_click=partial(self._decision, view, action)).props("no-caps dense outline")
                self.buttons[view] = action, button
        self._show()
        at_betting = [one for one in choices if one[0].betting.text() == at]
        reviewed = [one for one in choices if not self._reviews.refusal(one[0])]
        if choices:
            await self._decision(*(at_betting or reviewed or choices)[0])
        else:
            self.answer.set_content("<p>You had no decision in this hand.</p>")

    def moved_on(self, number: int, betting: Betting) -> None:
        """Remove a hint for another decision than the one at `betting`."""
        if self._hint is not None and self._hint != (number, betting.text()):
            self.close(self._invitation)

    def close(self, text: str) -> None:
        """Show a text in place of a hand."""
        self._hint = self._opinion = None
        self._request += 1
        self.buttons.clear()
        self._choices.clear()
        self.title.set_content(text)
        self.answer.set_content("")

    async def _decision(self, view: HandState, action: int | None) -> None:
        self._request = request = self._request + 1
        for other, (_, button) in self.buttons.items():
            if other == view:
                button.props("aria-pressed=true", remove="outline")
            else:
                button.props("aria-pressed=false outline")
        self.answer.set_content(_SOLVING)
        opinion, problem = None, ""
        try:
            opinion = await run.io_bound(self._reviews.opinion, view, action)
        except (PokernetsError, OSError) as error:
            problem = f'<p role="alert">{escape(str(error))}</p>'
        if request == self._request and not self.answer.is_deleted:  # by a choice of another opponent
            self._opinion = opinion
            self.answer.set_content(problem)
            self._show()

    def _show(self) -> None:
        """Show the decisions, and the solved one, in the chosen unit."""
        big_blind = self._unit.of(self._reviews.big_blind)
        for view, (action, button) in self.buttons.items():
            what = "now" if action is None else words.action_name(view.betting, action, big_blind)
            button.set_text(f"{words.STREETS[view.street]}: {what}")
        if self._opinion is not None:
            if isinstance(self._opinion, Advice):
                self.answer.set_content(advice_html(self._opinion, big_blind))
            else:
                self.answer.set_content(decision_html(self._opinion, self._note, big_blind))


def decision_html(one: DecisionReview, note: str, big_blind: int | None = None) -> str:
    """Return the HTML of a reviewed decision: actions with frequency and EV, the loss, answers, and the grids.

    Args:
        note: text below it.
        big_blind: chips of a big blind, to show amounts in big blinds; None for chips.
    """
    names, held = _names(one, big_blind), int(PREFLOP_CLASS[hand_index(*one.cards)])
    evs = [_ev(*pair, one.exploitability, big_blind) for pair in zip(one.evs, one.best_evs, strict=True)]
    actions = words.table_html(("action", "solver", _in(big_blind)), _action_rows(one, names, evs))
    return (
        f"{_board_html(one, big_blind)}{actions}{_weight_html(one)}"
        f"{_lost_html(one, big_blind)}{_beliefs_html(one, big_blind)}{_parts_html(one, names, big_blind)}"
        f"{_strategy_html('Sound play with your range', one, names, held)}"
        "<h3>Your range in the agent's view</h3>"
        f"{class_grid(range_cells(one.believed, held), 'Your range as the agent sees it')}"
        f"<p class=quiet>{escape(note)} {_ERROR}</p>"
    )


def advice_html(one: Advice, big_blind: int | None = None) -> str:
    """Return the HTML of what the agent would do: actions with frequency, the grid, and why there are no EVs."""
    names, held = _names(one, big_blind), int(PREFLOP_CLASS[hand_index(*one.cards)])
    return (
        f"{_board_html(one, big_blind)}{words.table_html(('action', 'agent'), _action_rows(one, names))}"
        f"{_weight_html(one)}<p class=quiet>{escape(one.why)}</p>"
        f"{_strategy_html('Strategy of the agent with your range', one, names, held)}"
    )


def _names(one: PlayedDecision, big_blind: int | None) -> list[str]:
    return [words.action_name(one.betting, action, big_blind) for action in one.actions]


def _shades(names: Sequence[str]) -> list[str]:
    return [f'<span class="shade" style="background: {colour}"></span>' for colour in action_colours(names)]


def _board_html(one: PlayedDecision, big_blind: int | None) -> str:
    if not one.board:
        return ""
    cards = words.small_cards(one.betting.rules, one.board)
    return f"<p>Board {cards}, pot {words.chips(one.betting.pot, big_blind)}</p>"


def _action_rows(one: PlayedDecision, names: Sequence[str], evs: Sequence[str] | None = None) -> list[str]:
    rows = []
    for place, (action, shade, name) in enumerate(zip(one.actions, _shades(names), names, strict=True)):
        marked, mine = (" class=chosen", " (you)") if action == one.chosen else ("", "")
        ev = "" if evs is None else f"<td>{evs[place]}</td>"
        rows.append(f"<tr{marked}><th scope=row>{shade}{name}{mine}</th><td>{one.frequencies[place]:.0%}</td>{ev}</tr>")
    return rows


def _strategy_html(title: str, one: PlayedDecision, names: Sequence[str], held: int) -> str:
    legend = " ".join(f"{shade}{name}" for shade, name in zip(_shades(names), names, strict=True))
    return (
        f'<h3>{title}</h3><p class="legend">{legend}</p>'
        f"{class_grid(strategy_cells(names, one.grid, held), 'Strategy by class of hand')}"
    )


def _in(big_blind: int | None) -> str:
    return f"EV, {'chips' if big_blind is None else 'bb'}"


def _number(value: float, big_blind: int | None) -> str:
    """Return an EV without its unit."""
    amount, digits = (value, 1) if big_blind is None else (value / big_blind, 2)
    return f"{amount:+,.{digits}f}" if round(amount, digits) else "0"


def _ev(value: float, best: float, exploitability: float, big_blind: int | None) -> str:
    """Return the EV, with the EV of best play if that is higher by more than the solve's exploitability."""
    text, most = _number(value, big_blind), _number(best, big_blind)
    return text if best - value <= exploitability or text == most else f"{text} to {most}"


def _amount(value: float, big_blind: int | None) -> str:
    """Return a loss or an error with its unit."""
    least, unit, digits = (0.1, "chips", 1) if big_blind is None else (0.01, "bb", 2)
    amount = value / (big_blind or 1)
    return f"{amount:,.{digits}f} {unit}" if amount >= least else f"less than {least} {unit}"


def _lost_html(one: DecisionReview, big_blind: int | None) -> str:
    """Return the HTML of the loss, no more precise than the solve, and of the solve and its exploitability."""
    exact = _amount(one.exploitability, big_blind)
    text = f"Solved with {one.method}. Exploitability: {exact}, {one.exploitability / one.betting.pot:.1%} of the pot"
    solve = f"<p class=quiet>{text}{'' if one.finished else '; it did not reach its limit'}.</p>"
    if one.loss is None:
        return solve
    best = words.action_name(one.betting, one.best, big_blind)
    if one.chosen == one.best:
        lost = "<b>Lost nothing</b>"
    elif one.is_certain:
        lost = f"<b>Lost {_amount(one.loss, big_blind)}</b> ± {_amount(one.error, big_blind)}"
    elif one.is_guess:
        lost = f"<b>Perhaps nothing lost</b>, {_amount(one.loss, big_blind)} against the range that was solved for"
    else:
        lost = f"<b>Lost at most {_amount(one.loss + one.error, big_blind)}</b>, perhaps nothing"
    return f"<p>{lost}; best: {best}.</p>{solve}"


def _beliefs_html(one: DecisionReview, big_blind: int | None) -> str:
    """Return the HTML of how likely the agent's actions were in the solver's model, and how certain its range is."""
    player = one.betting.to_act
    actions = [(before, action) for before, actor, action in one.betting.turns() if actor != player]
    parts = [
        f"{words.action_name(before, action, big_blind)} {_share(share)}"
        for (before, action), share in zip(actions[len(actions) - len(one.likelihoods) :], one.likelihoods, strict=True)
    ]
    likely = f"<p class=quiet>The agent's actions in sound play: {', '.join(parts)}.</p>" if parts else ""
    if min(one.likelihoods, default=1.0) >= IMPROBABLE:
        return likely
    return f"{likely}<p>The agent took an improbable action, so its range here is a guess.</p>"


def _share(share: float) -> str:
    """Return a frequency in percent, with a decimal for small ones."""
    return f"{share:.0%}" if share >= 0.095 else f"{share:.1%}" if share >= 0.0005 else "less than 0.1%"


def _weight_html(one: PlayedDecision) -> str:
    """Return the HTML of the weight of the player's hand, if the hand is unlikely here."""
    if one.weight >= RARE:
        return ""
    return (
        "<p>Sound play rarely gets here with this hand: its weight is less than"
        f" {RARE:g} times that of the likeliest hand.</p>"
    )


def strategy_cells(names: Sequence[str], shares: Floats, held: int) -> list[Cell]:
    """Return the cells of a strategy.

    Args:
        names: names of the A actions.
        shares: [169, A] probabilities by class; NaN where nobody can have the class.
        held: the class that is outlined.
    """
    rows = enumerate(shares.tolist())
    return [strategy_cell(names, row, 1.0, "not expected", _OFTEN, number == held) for number, row in rows]


def range_cells(shares: Floats, held: int) -> list[Cell]:
    """Return the cells of a range, whose likeliest hands are the hottest.

    Args:
        shares: [169] share of each class.
        held: the class that is outlined.
    """
    each = shares / PREFLOP_CLASS_SIZE
    most = max(float(each.max()), 1e-30)
    return [
        Cell(heat(float(one), 0.0, most), "", f"{share:.2%} of the range", held=number == held)
        for number, (one, share) in enumerate(zip(each, shares, strict=True))
    ]


def _parts_html(one: DecisionReview, names: Sequence[str], big_blind: int | None) -> str:
    """Return the HTML of the agent's answers, whose mean is an action's EV."""
    lines = []
    for action, name, ev in zip(one.actions, names, one.evs, strict=True):
        rows = [_part_row(f"<b>{name}</b>", None, ev, big_blind)]
        for path, (share, value) in one.answers.items():
            if path[0] == action and share >= _OFTEN:
                reply = words.action_name(one.betting.apply(action), path[1], big_blind)
                rows.append(_part_row(f"<span class=part>agent: {reply}</span>", share, value, big_blind))
        if len(rows) > 1:
            lines += rows
    if not lines:
        return ""
    return (
        "<details><summary>How the EVs add up</summary><p class=quiet>The EV of an action is the mean EV of the"
        " agent's answers, weighted by their frequency.</p>"
        f"{words.table_html(('then', 'how often', _in(big_blind)), lines)}</details>"
    )


def _part_row(name: str, share: float | None, ev: float, big_blind: int | None) -> str:
    often = "" if share is None else f"{share:.0%}"
    return f"<tr><th scope=row>{name}</th><td>{often}</td><td>{'-' if isnan(ev) else _number(ev, big_blind)}</td></tr>"
