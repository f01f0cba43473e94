"""The table in the browser: cards, bets and buttons of one visitor's game, and the panels beside them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from statistics import median, quantiles
from types import MappingProxyType
from typing import Any

from nicegui import run, ui
from nicegui.events import KeyEventArguments

from poker.agents.simple import raise_menu
from poker.game.betting import Betting, Legal
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.play.lineup import AgentSpec
from poker.studio.games.table_game import Seen
from poker.studio.pages import words
from poker.studio.pages.elements import Fill, Needs, UnitSwitch, alerts, html, notices, remember, remembered, row, tabs
from poker.studio.panels.odds import OddsSwitch
from poker.studio.panels.read import ReadPanel
from poker.studio.panels.review import AT_THE_TABLE, ReviewPanel
from poker.studio.server.app import loaded
from poker.studio.server.visitors import Visit, Visitors

_SIZES: Mapping[str, str | float] = {"⅓ pot": 0.33, "½ pot": 0.5, "¾ pot": 0.75, "pot": 1, "2 pots": 2, "all-in": "a"}
"""Sizes after the flop, as in the menus of conf/search, so that a button's bet is one of the agent's."""
_OPENS: Mapping[str, str | float] = {**{f"{size} bb": f"{size}x" for size in (2, 2.5, 3, 4, 5)}, "all-in": "a"}
"""Sizes of the first raise before the flop; x is the big blind."""
_RERAISES: Mapping[str, str | float] = {**{f"{size}x": f"{size}x" for size in (2.5, 3, 3.5, 4, 5)}, "all-in": "a"}
_SECONDS = 0.15
"""Seconds between two checks for a change of the game."""
_COOKIE = "pokernets_against"
"""Cookie with the agent that the visitor has chosen."""


def make(
    needs: Needs,
    game: Rules,
    agents: list[AgentSpec],
    reviewer: AgentSpec | None,
    out: str,
    processes: int | None = 0,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> Fill:
    """Make the page of the table.

    Heads-up the visitor chooses one of the agents. The first is loaded at once, others when they are chosen.

    Args:
        needs: ends the server with the error of a future.
        reviewer: the agent that solves for reviews if none of `agents` can.
        out: folder of the hands.
        processes: processes of the agents, as in `Pool`.
        titles: what the page calls the agents, by name.
    """
    tables = {spec.name: [spec] for spec in agents} if game.num_players == 2 else {"": agents}
    first, *_ = tables
    seated = {first: Visitors(game, tables[first], reviewer, Path(out), processes)}
    needs(seated[first].loaded)

    async def sit_down(visitor: str, name: str) -> None:
        with alerts():
            visitors = seated.get(name) or Visitors(game, tables[name], reviewer, Path(out), processes)
            seated[name] = visitors
            await loaded(visitors.loaded, ", ".join(spec.name for spec in tables[name]))
            visit = await run.io_bound(visitors.visit, visitor)
            if visit is not None and not ui.context.client.is_deleted:  # the server runs and the page is still open
                TablePage(visit, titles)

    async def fill(visitor: str) -> None:
        async def choose(name: str) -> None:
            remember(_COOKIE, name)
            place.clear()
            with place:
                await sit_down(visitor, name)

        chosen = remembered(_COOKIE)
        chosen = chosen if chosen in tables else first
        if len(tables) > 1:
            with row():
                ui.label("Opponent").props("aria-hidden=true")
                names = {name: words.agent_name(name, titles) for name in tables}
                opponent = ui.toggle(names, value=chosen, on_change=lambda event: choose(event.value))
                opponent.props("dense no-caps unelevated aria-label=Opponent")
        place = ui.element("div").style("display: contents")
        with place:
            await sit_down(visitor, chosen)

    return fill


class TablePage:
    """One browser's page of a game.

    Controls are rebuilt for every state of the game, so that a click on an old state has no effect.
    """

    def __init__(self, visit: Visit, titles: Mapping[str, str] = MappingProxyType({})) -> None:
        """Build the page of a visit; `titles` are what it calls the agents, by name."""
        self._visit, self._titles = visit, titles
        self._game = visit.game
        self._version = -1, ""
        self._acting = -1, -1
        with ui.element("div").classes("columns table"):
            with ui.element("section").classes("table-side").props('aria-label="Table"'):
                self.felt = html("felt")
                with ui.element("div").classes("status"):
                    self.status = ui.label().props('role=status aria-live="polite"')
                    self._seconds = ui.label().props("aria-hidden=true").classes("quiet")
                    ui.space()
                    self.odds = OddsSwitch(self._show_felt)
                    self.unit = UnitSwitch()
                self._controls = ui.element("div").classes("controls").props('role=group aria-label="Your actions"')
            with ui.element("section").classes("beside").props('aria-label="Beside the table"'):
                names = ["Review", "Result", *["Read"] * self._game.reads]
                bar, (review, result, *read) = tabs(*names)
                with review:
                    invitation = "Ask for a hint during a hand, or review it when it is over."
                    opened = partial(bar.set_value, "Review")
                    self.review = ReviewPanel(visit.reviews, self.unit, opened, invitation, AT_THE_TABLE)
                with result:
                    self._result = html("result")
                self.read = None
                if read:
                    with read[0]:
                        self.read = ReadPanel(self._game)
            self.history = html("history").props('role=region tabindex=0 aria-label="The hand so far"')
        self.unit.add(self.felt, self.show_anew)
        ui.timer(_SECONDS, self.look)

    def show_anew(self) -> None:
        """Rebuild the page, for example in another unit."""
        self._version, self._acting = (-1, ""), (-1, -1)
        self.look()

    def _seen(self) -> Seen:
        seen = self._game.seen()
        return replace(seen, names=tuple(words.agent_name(name, self._titles) for name in seen.names))

    def _show_felt(self, seen: Seen | None = None) -> None:
        seen = seen or self._seen()
        big_blind = self.unit.of(seen.state.rules.big_blind)
        self.felt.set_content(felt(seen, big_blind, self.odds.html(seen, big_blind)))

    def look(self) -> None:
        """Update the page if the game has changed."""
        # before what is seen, or an action between the two would never be shown
        version = self._game.version, self._visit.stopped
        seen = self._seen()
        self._seconds.set_text(words.waiting(seen))
        if self._version == version:
            return
        self._version = version
        big_blind = self.unit.of(seen.state.rules.big_blind)
        self._show_felt(seen)
        end = f"<p><b>{words.outcome(seen, big_blind)}</b></p>" if seen.state.is_over else ""
        self.history.set_content(words.history_html(seen, big_blind) + end)
        self._result.set_content(result_html(self._visit, big_blind))
        stopped = f"The game has stopped: {self._visit.stopped}. Reload the page to continue."
        self.status.set_text(stopped if self._visit.stopped else words.status(seen, big_blind))
        self.review.moved_on(seen.number, seen.state.betting)
        if self.read is not None:
            self.read.moved_on(seen)
        if self._acting != (seen.number, seen.step):
            self._acting = seen.number, seen.step
            self._controls.clear()
            with self._controls:
                Controls(self._visit, seen, self._after, self.review.open, big_blind)

    def _after(self) -> None:
        self._visit.go_on()
        self.look()


class Controls:
    """Buttons, slider and keys for one state of the game; amounts in chips, or in big blinds of `big_blind` chips."""

    def __init__(
        self,
        visit: Visit,
        seen: Seen,
        after: Callable[[], None],
        review: Callable[[int, HandState, int], Awaitable[None]],
        big_blind: int | None = None,
    ) -> None:
        """Build the controls.

        Args:
            seen: the state that they act on.
            after: called after an action.
            review: opens a hint or review of a hand.
            big_blind: chips of a big blind, for amounts in big blinds; None for chips.
        """
        self._game, self._seen, self._after, self._big_blind = visit.game, seen, after, big_blind
        self._keys: dict[str, Callable[[], object]] = {}
        legal = seen.state.betting.legal() if seen.is_mine else None
        with row():
            if seen.state.is_over:
                self._button("New hand", "n", lambda: self._game.deal(seen.number), "color=primary")
            if legal:
                self._actions(legal)
            if not visit.reviews.why_not and (seen.is_mine or seen.state.is_over):
                name, key = ("Hint", "h") if seen.is_mine else ("Review hand", "v")
                self._keys[key] = partial(review, seen.number, seen.state, seen.seat)
                ui.button(name, on_click=self._keys[key]).props(f"no-caps flat {_key(key)}")
        if legal and legal.max_raise > legal.min_raise:
            self._sizes()
            self._slider(legal.min_raise, legal.max_raise)
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"], repeating=False)

    def _actions(self, legal: Legal) -> None:
        if legal.fold:
            self._button(self._name(FOLD), "f", partial(self._act, FOLD), "color=negative")
        self._button(self._name(CALL), "c", partial(self._act, CALL), "color=primary")
        if legal.max_raise and legal.min_raise == legal.max_raise:
            self._button(self._name(legal.max_raise), "r", partial(self._act, legal.max_raise), "color=secondary")

    def _sizes(self) -> None:
        totals = button_totals(self._seen.state.betting)
        with row():
            for place, (name, total) in enumerate(totals.items()):
                key = "a" if name == "all-in" else str(place + 1)
                if total not in list(totals.values())[place + 1 :]:  # a size clipped to another's has no button
                    self._button(name, key, partial(self._act, total), "outline", self._name(total))

    def _name(self, action: int) -> str:
        return words.action_name(self._seen.state.betting, action, self._big_blind)

    def _slider(self, least: int, most: int) -> None:
        start, chip = max(self._seen.state.betting.round_start()), 1 / (self._big_blind or 1)
        lowest, highest = (least - start) * chip, (most - start) * chip
        unit = "chips" if self._big_blind is None else "big blinds"
        with row():
            slider = ui.slider(min=lowest, max=highest, step=chip, value=lowest)
            slider.props('aria-label="Size of the bet"').classes("slider")
            form = "%d" if self._big_blind is None else "%.2f"
            number = ui.number(value=lowest, min=lowest, max=highest, step=chip, format=form)
            number.props(f'dense outlined aria-label="Size of the bet in {unit}"').classes("amount")
            number.bind_value(slider)
            button = self._button(self._name(least), "r", lambda: self._act(chosen()), "color=secondary")

            def chosen() -> Any:
                value = slider.value
                return start + round(value / chip) if isinstance(value, int | float) and abs(value) < 1e12 else value

            def name() -> None:
                total = chosen()
                fits = isinstance(total, int) and least <= total <= most
                button.set_enabled(fits)
                limits = " to ".join(words.chips(amount - start, self._big_blind) for amount in (least, most))
                button.set_text(self._name(total).capitalize() if fits else limits)

            slider.on_value_change(name)

    def _act(self, action: Any) -> None:
        self._game.act(self._seen.number, self._seen.step, action)

    def _button(self, name: str, key: str, do: Callable[[], None], props: str, label: str = "") -> ui.button:
        def click() -> None:
            if not button.enabled:  # it can still be triggered by its key
                return
            with notices():
                do()
                self._after()

        self._keys[key] = click
        text = name[0].upper() + name[1:]
        button = ui.button(text, on_click=click).props(f"no-caps {props} {_key(key)}").classes("action")
        if label:
            button.props(f'aria-label="{text}: {label}"')
            with button:
                ui.tooltip(label)
        return button

    async def _key(self, event: KeyEventArguments) -> None:
        held = event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta
        if event.action.keydown and not held and event.key.name.lower() in self._keys:
            done = self.press(event.key.name.lower())
            if isinstance(done, Awaitable):
                await done

    def press(self, key: str) -> object:
        """Do what a key does, and return what has to be awaited, if anything."""
        return self._keys[key]()


def button_totals(betting: Betting) -> dict[str, int]:
    """Return the raise-to total in chips of each size that has a button, by the name of the size."""
    opens = betting.highest <= betting.rules.big_blind
    sizes = _SIZES if betting.street else _OPENS if opens else _RERAISES
    return {name: total for name, size in sizes.items() for total in raise_menu([size]).raise_totals(betting)}


def _key(key: str) -> str:
    """Return properties of a button with a key, which the style sheet shows on it."""
    return f'aria-keyshortcuts="{key}" data-key="{key}"'


def felt(seen: Seen, big_blind: int | None, odds: str = "") -> str:
    """Return the HTML of the table: seats, board and pot.

    Args:
        seen: the visitor's view; the other seats begin with the one after the visitor's.
        big_blind: chips of a big blind, to show amounts in big blinds; None for chips.
        odds: HTML shown beside the pot.
    """
    state, players = seen.state, seen.state.rules.num_players
    others = "".join(_seat(seen, (seen.seat + i) % players, big_blind) for i in range(1, players))
    rules = state.rules
    board = words.cards_html(rules, state.board) + words.PLACE * (rules.total_board_cards - len(state.board))
    started = sum(state.betting.round_start())
    pot = f"Pot {words.chips(state.betting.pot, big_blind)}"
    if started and state.betting.pot != started:
        pot += f' <span class="quiet">({words.chips(started, big_blind)} before this round)</span>'
    return (
        f'<div class="others{" many" * (players > 2)}">{others}</div>'
        f'<div class="board" role="group" aria-label="Board">{board}</div>'
        f'<div class="pot">{pot}</div>{odds}{_seat(seen, seen.seat, big_blind)}'
    )


def _seat(seen: Seen, seat: int, big_blind: int | None) -> str:
    state, rules = seen.state, seen.state.rules
    betting, cards = state.betting, state.hole_cards[seat]
    folded = betting.folded[seat]
    name = escape(words.seat_name(seen.names[seat]))
    hidden = words.HIDDEN * rules.num_hole_cards * (not folded)
    hole = words.cards_html(rules, sorted(cards, reverse=True)) if cards else hidden
    place = "<span class=dealer title=button>D</span>" if seat == rules.num_players - 1 else ""
    if rules.num_players > 2 and not place:
        place = f"<span class=quiet>{rules.positions[seat]}</span>"
    bet = 0 if state.is_over else betting.committed[seat] - betting.round_start()[seat]
    classes = "seat" + " to-act" * (betting.to_act == seat) + " folded" * folded + " me" * (seat == seen.seat)
    behind = words.chips(rules.stacks[seat] - betting.committed[seat], big_blind)
    posted = f"{words.blind_name(betting, seat) or 'bet'} {words.chips(bet, big_blind)}" if bet else ""
    return (
        f'<div class="{classes}" role="group" aria-label="{name}">'
        f'<div class="hole">{hole}</div>'
        f'<div class="who"><b>{name.replace("_", "_<wbr>")}</b> {place}<br>'
        f"{behind}{' · folded' if folded else ''}</div>"
        f'<div class="bet">{posted}</div></div>'
    )


def result_html(visit: Visit, big_blind: int | None) -> str:
    """Return the visitor's result against the agents; in chips without `big_blind`."""
    result, thought = visit.result, visit.game.thought
    chips, adjusted = list(result.chips), result.adjusted
    against = ", ".join(f"{escape(name)} {mark}" for name, mark in visit.agents.items())
    rows = [("Against", against), ("Hands", f"{len(chips):,}")]
    if chips:
        won = ("Chips", f"{sum(chips):+,.0f}") if big_blind is None else ("Won", f"{sum(chips) / big_blind:+,.2f} bb")
        rows += [won, ("Per 100 hands", f"{result.per_hundred(chips):+} bb")]
        luck = "not known" if adjusted is None else f"{result.per_hundred(adjusted):+} bb"
        rows.append(("Per 100 hands, luck removed (AIVAT)", luck))
    if thought:
        slow = quantiles(thought, n=20)[-1] if len(thought) > 1 else thought[0]
        times = f"{len(thought)} decisions, median {median(thought):.2f} s, 95th percentile {slow:.2f} s"
        rows.append(("The agent's thinking time", times))
    if visit.game.incidents:
        last = visit.game.incidents[-1]
        rows.append(("Failures", f"{len(visit.game.incidents)}; the last: {escape(last.error)}"))
    body = "".join(f"<tr><th scope=row>{name}</th><td>{value}</td></tr>" for name, value in rows)
    note = "Intervals are 95%." if chips else "There is no finished hand yet."
    note += " The code beside an agent is a fingerprint of its settings and artifacts."
    return f"<table>{body}</table><p class=quiet>{note} Hands are stored in {escape(str(visit.folder))}.</p>"
