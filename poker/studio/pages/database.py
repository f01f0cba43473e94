"""A visitor's hands in the browser: results, graph and leaks by filter, the hands themselves, and drills."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import run, ui
from nicegui.events import GenericEventArguments, UploadEventArguments

from poker.formats.histories import KNOWN, hands_of, read_hands
from poker.formats.played import PlayedHand
from poker.game.rules import Rules
from poker.opponents.profiles import AF, MEASURES, Profile
from poker.play.lineup import AgentSpec
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from poker.store.artifacts import artifact_exists
from poker.studio.games.pool import Pool
from poker.studio.games.table_game import PERSON
from poker.studio.hands.drill import review_hand, reviewable
from poker.studio.hands.hand_base import ORDERS, FileRows, HandBase, HandSearch, ListedHand, rows_in, rows_of
from poker.studio.hands.hand_file import FileReviews
from poker.studio.pages import words
from poker.studio.pages.elements import Fill, Needs, UnitSwitch, alerts, html, listing, row, tabs
from poker.studio.pages.pages import Page, blueprint_of
from poker.studio.panels.drill import DrillPanel
from poker.studio.panels.replay import ReplayPanel
from poker.studio.panels.review import ReviewPanel
from poker.studio.server.access import MOST_UPLOADED
from poker.studio.server.visitors import REVIEWER, PooledSolver, reviewing

_FILE = "hands.sqlite"
_SHOWN = 25
"""Hands on a page, and most players in a list."""
_FIRST = {"sortBy": "cost", "descending": True, "page": 1, "rowsPerPage": _SHOWN}
"""The first page of a list, in the form of Quasar's `pagination`."""
_LISTED = 200
"""Most leaks in a list."""
_MOST_PAGES = 1_000_000
_POINTS = 500
"""Approximate number of points in the graph of results."""
_REVIEWED = 1000
"""Most hands that one click reviews."""
_ANY = "any"
_HEADS = ("begun (UTC)", "stakes", "seat", "cards", "board", "line", "pot", "won", "all-in EV", "cost")
_HANDS = dict(zip(ORDERS, _HEADS, strict=True))
_LEAKS = {"position": "seat", "line": "line", "action": "then", "decisions": "times", "cost": "cost, bb"}
_LINES = (
    "Letters of all actions so far: f fold, x check, c call, b bet, r raise, / next card; * any letters. rc/x: a raise"
    " that was called, and a check on the flop."
)


_MEASURED = (
    "How often of how many opportunities: VPIP and PFR of all hands, three-bets of decisions after one raise in which"
    " a raise is legal, c-bets of flops that the last raiser could bet first, WTSD of flops seen; AF: bets and raises"
    " over calls after the flop."
)
_EXPECTED = (
    "All-in EV: the same with the mean over the cards that came after an all-in, where the cards of all players in it"
    " are known."
)
_NAME = f"A file of hands: {KNOWN}"
_UPLOAD = f"""
<div class="q-uploader__header-content flex flex-center no-wrap q-gutter-xs">
  <div class="col q-uploader__title">{_NAME}</div>
  <q-btn type="a" icon="add" flat dense v-if="props.canAddFiles" @click="props.pickFiles" aria-label="Choose a file">
    <q-uploader-add-trigger aria-label="{_NAME}" />
  </q-btn>
</div>"""
"""Quasar's header of uploads, with accessible names for the button and the field."""


def make(
    _: Needs,
    game: Rules,
    reviewer: AgentSpec | None,
    log: str | None,
    played: str,
    out: str,
    processes: int | None = 0,
    six_handed: Callable[[], Page] | None = None,
) -> Fill:
    """Make the database page.

    Args:
        _: unused.
        reviewer: the agent that reviews; None for none.
        log: a file of hands that every visitor sees; None for none.
        played: folder of the hands played at the table.
        out: folder of the databases.
        processes: processes of the reviewer, as in `Pool`.
        six_handed: returns the page of a table whose agents review hands of more than two players; None for none.

    Raises:
        PokernetsError: `log` cannot be read.
    """
    files = {}
    if log is not None:
        try:
            files[Path(log).name] = rows_in(Path(log).name, Path(log).read_bytes(), game)
        except OSError as error:
            raise PokernetsError(f"{log} cannot be read: {error.strerror or error}") from error
    ring = None
    if six_handed is not None:
        table = six_handed()
        rules, [agent] = table.settings["game"], table.settings["agents"]
        ring = _Ring(rules, reviewing(rules, {REVIEWER: agent}, processes), blueprint_of(table))
    shared = _Shared(game, Path(played), Path(out), reviewing(game, {REVIEWER: reviewer}, processes), files, ring)

    async def fill(visitor: str) -> None:
        with alerts():
            base = await run.io_bound(shared.base_of, visitor)
            if base is not None and not ui.context.client.is_deleted:
                await _Database(shared, base, visitor).show()

    return fill


@dataclass(frozen=True)
class _Ring:
    """Game and processes of the reviews of hands of more than two players, once their blueprint is made."""

    game: Rules
    pool: Pool
    blueprint: str


@dataclass(frozen=True)
class _Shared:
    """Settings and processes that all visitors share.

    Pools solve and are started at their first use. All visitors have the hands of `files`, by name.
    """

    game: Rules
    played: Path
    out: Path
    pool: Pool
    files: Mapping[str, FileRows] = field(default_factory=dict)
    ring: _Ring | None = None

    def base_of(self, visitor: str) -> HandBase:
        """Return a visitor's database, with the hands that they have played at the table so far."""
        base = HandBase(self.out / visitor / _FILE)
        counts = dict(base.sources())
        for log in sorted(self.played.glob(f"*/*/{visitor}/hands.phhs")):
            source = f"table: {log.parent.parent.name}"
            text = log.read_bytes()
            if counts.get(source, 0) < text.count(b"\n["):
                base.add(source, rows_of(_as_seen(read_hands(log, self.game)), source))
        for name, file in self.files.items():
            if counts.get(name, 0) < len(file.hands):
                base.add(name, file.hands)
        return base


def _as_seen(hands: Iterable[PlayedHand]) -> Iterator[PlayedHand]:
    """Yield hands of the table with the cards that the visitor has seen."""
    for hand in hands:
        yield replace(hand, state=hand.state.view(hand.names.index(PERSON)))


class _Database:
    """One browser's page."""

    def __init__(self, shared: _Shared, base: HandBase, visitor: str) -> None:
        self._shared, self._base, self._stopped = shared, base, True
        self._found: HandSearch | None = None
        solver, ring = PooledSolver(shared.pool, visitor), shared.ring
        of_ring = (ring.game, PooledSolver(ring.pool, visitor)) if ring and artifact_exists(ring.blueprint) else None
        self._reviews = FileReviews(shared.game, solver, of_ring)
        with ui.element("div").classes("columns database"):
            with ui.element("section").classes("hands-side").props('aria-label="Search"'):
                self._upload = ui.upload(
                    auto_upload=True, max_file_size=MOST_UPLOADED, on_upload=self._uploaded, on_rejected=self._rejected
                )
                self._upload.props("flat bordered").classes("upload").add_slot("header", _UPLOAD)
                self._status = ui.label().classes("quiet").props("role=status")
                with ui.element("div").classes("filters"):
                    self._player = ui.select([], label="Whose hands", on_change=self.show).classes("whole")
                    self._source, self._position, self._stakes = (
                        ui.select([_ANY], value=_ANY, label=label, on_change=self.show)
                        for label in ("From", "Position", "Stakes")
                    )
                    self._since, self._until, self._cards = (
                        ui.input(label, on_change=self.show).props("debounce=150 stack-label")
                        for label in ("First day", "Last day", "Starting hand")
                    )
                    for day in (self._since, self._until):
                        day.props("type=date")
                    self._cards.props('placeholder="QQ+,AKs"')
                    self._line = ui.input("Line before a decision", on_change=self.show).props("debounce=150")
                    for wide in (self._source, self._cards, self._line, ui.label(_LINES).classes("quiet")):
                        wide.classes("whole")
            with ui.element("section").classes("beside").props('aria-label="Found"'):
                names = "Results", "Players", "Leaks", "Hands", "Replay", "Drill"
                self._tabs, (results, players, leaks, hands, replay, drill) = tabs(*names)
                with results:
                    self._results = html("result")
                    self._won = ui.echart({}, renderer="svg").classes("graph")
                with players:
                    self._profiles = html("profiles")
                with leaks:
                    with row():
                        self._run = ui.button("Review these hands", on_click=self._review_all)
                        self._run.props("no-caps color=primary")
                        self._run.set_enabled(not self._reviews.why_not)
                        self._progress = ui.label().props("role=status")
                    self._no_leaks = ui.label()
                    self._leaks = listing(_LEAKS, ("decisions", "cost"), dict(_FIRST), self._narrow)
                with hands:
                    self._hands = listing(_HANDS, ("pot", "net", "expected", "cost"), dict(_FIRST), self._open)
                    self._hands.on("request", self._turn, js_handler="(e) => emit(e.pagination)")
                with replay:
                    self._replay = ReplayPanel("Choose one of the Hands.")
                    self._review = ReviewPanel(self._reviews, UnitSwitch(), None, "", _note(self._reviews))
                with drill:
                    DrillPanel(base, shared.game, solver, self._search)
        self._choices()
        for name, file in shared.files.items():
            self._choices(file.owner, name)

    def _choices(self, owner: str = "", source: str = "") -> None:
        """Offer the players and sources in the database, and choose the ones of a new file."""
        counts = sorted(self._base.players(), key=lambda one: one[0] != PERSON)
        players = {name: f"{words.seat_name(name)}, {count:,} hands" for name, count in counts}
        player = owner if owner in players else self._player.value or next(iter(players), None)
        self._player.set_options(players, value=player)
        sources = {_ANY: _ANY} | {name: f"{name}, {count:,} hands" for name, count in self._base.sources()}
        self._source.set_options(sources, value=source if source in sources else self._source.value)
        self._stakes.set_options([_ANY, *self._base.stakes()])

    def _search(self) -> HandSearch | None:
        if not self._player.value:
            return None
        chosen = self._source, self._position, self._stakes
        source, position, stakes = ("" if one.value == _ANY else str(one.value) for one in chosen)
        typed = self._line, self._since, self._until, self._cards
        line, *others = (str(one.value or "").strip() for one in typed)
        return HandSearch(str(self._player.value), source, position, line, stakes, *others)

    async def show(self) -> None:
        """Show the results of the search."""
        try:
            search = self._search()
        except PokernetsError as error:
            self._results.set_content(f'<p role="alert">{escape(str(error))}</p>')
            return
        if search is None:
            self._results.set_content("<p>There are no hands yet: play some at the table, or upload a file.</p>")
            return
        base = self._base
        found = await run.io_bound(
            lambda: (
                base.results(search),
                base.profiles(search, _SHOWN),
                base.leaks(search, _LISTED),
                base.hands(search, 1),
                base.unreviewable(search, self._reviews.most_players),
            )
        )
        if found is None or search != self._search():
            return
        results, profiles, leaks, costliest, unreviewable = found
        there = sorted({position for position, *_ in results} | {str(self._position.value)} - {_ANY})
        self._position.set_options([_ANY, *there])
        self._results.set_content(_results_html(results))
        self._won.set_visibility(bool(results))
        _, won, expected = zip(*results, strict=True) if results else ((), (), ())
        self._won.options.update(won_graph({"won": won, "all-in EV": expected}))
        self._profiles.set_content(_profiles_html(profiles))
        self._no_leaks.set_text("" if leaks else _no_leaks_text(costliest, len(results), unreviewable))
        self._leaks.set_visibility(bool(leaks))
        self._leaks.rows = [leak._asdict() | {"key": leak.line, "cost": round(leak.cost, 2)} for leak in leaks]
        first = {} if search == self._found else {"page": 1}
        self._found = search
        await self._list({**self._hands.pagination, **first, "rowsNumber": len(results)})

    async def _list(self, page: dict[str, Any]) -> None:
        """Show a page of the hands found; it has the form of Quasar's `pagination`."""
        search, skip = self._found, (page["page"] - 1) * _SHOWN
        if search is None:
            return
        hands = await run.io_bound(
            self._base.hands, search, _SHOWN, page["sortBy"], skip, descending=page["descending"]
        )
        if hands is not None and search == self._found:
            self._hands.rows = [_hand_cells(hand) for hand in hands]
            self._hands.pagination = page

    async def _turn(self, event: GenericEventArguments) -> None:
        """Show the page, in the order, that the browser asks for."""
        asked = event.args
        order, number = str(asked["sortBy"]), int(asked["page"])
        if order in ORDERS and 0 < number < _MOST_PAGES:
            turned = {"sortBy": order, "page": number, "descending": bool(asked["descending"])}
            await self._list({**self._hands.pagination, **turned})

    def _narrow(self, line: Any) -> None:
        """Search for the line of a leak."""
        self._line.set_value(str(line))

    async def _open(self, number: Any) -> None:
        """Replay a hand, and show the review of its first decision that can be reviewed."""
        player, text = str(self._player.value), self._base.text(int(number))
        hand = next(hands_of(text, "hand", self._shared.game), None) if text else None
        if hand is None:
            ui.notify("This hand cannot be shown: it does not fit PHH.")
            return
        self._tabs.set_value("Replay")
        self._replay.open(hand, player)
        try:
            reviewed = await run.io_bound(reviewable, self._base, number, player, self._reviews)
        except PokernetsError as error:
            self._review.close(f"This hand cannot be reviewed: {error}.")
            return
        if reviewed is not None:  # the server goes on
            await self._review.open(number, *reviewed[:2])

    async def _uploaded(self, event: UploadEventArguments) -> None:
        if event.file.size() > MOST_UPLOADED:
            self._rejected()
            return
        self._status.set_text("Reading …")
        name, data = event.file.name[:100], await event.file.read()
        self._upload.reset()
        try:
            file = await run.io_bound(rows_in, name, data, self._shared.game)
            added = await run.io_bound(self._base.add, name, file.hands if file else [])
        except (PokernetsError, OSError) as error:
            self._status.set_text(str(error))
            return
        if file is None or added is None:  # the server stops
            return
        unread = f"; {len(file.errors):,} more cannot be read: {file.errors[0]}" if file.errors else ""
        self._status.set_text(f"{name}: {len(file.hands):,} hands, {added:,} of them new{unread}")
        self._choices(file.owner, name if added else "")
        await self.show()

    def _rejected(self) -> None:
        self._status.set_text(f"A file has at most {MOST_UPLOADED >> 20} MiB.")

    async def _review_all(self) -> None:
        """Review hand after hand, or stop doing so."""
        search = self._search()
        if not self._stopped or search is None:
            self._stopped = True
            return
        self._stopped = False
        self._run.set_text("Stop")
        players = self._reviews.most_players
        numbers = await run.io_bound(self._base.unreviewed, search, _REVIEWED, players) or []
        left_out = await run.io_bound(self._base.unreviewable, search, players) or Counter[str]()
        reviewed, decisions, soon = 0, Counter[str](), asyncio.get_running_loop().call_soon_threadsafe
        for done, number in enumerate(numbers):
            show = partial(self._show_progress, f"Hand {done + 1} of {len(numbers)}")
            watch = partial(soon, show)
            try:
                refused = await run.io_bound(review_hand, self._base, number, search.player, self._reviews, watch)
                decisions.update(refused or [])
                reviewed += 1
            except PokernetsError as error:
                left_out[str(error)] += 1
            if self._stopped or self._run.is_deleted:
                break
            await self.show()
        self._stopped = True
        self._run.set_text("Review these hands")
        self._progress.set_text(_reviewed_text(reviewed, left_out, decisions))

    def _show_progress(self, hand: str, decision: int, of: int) -> None:
        if not self._stopped and not self._progress.is_deleted:
            self._progress.set_text(f"{hand}, decision {decision} of {of}")


def _note(reviews: FileReviews) -> str:
    """Return text that explains the numbers of a review, and how hands are converted to the agent's game."""
    games = reviews.game_of(2), reviews.game_of(3)
    stacks = " or ".join(dict.fromkeys(f"{min(game.stacks) / game.big_blind:.4g}" for game in games))
    return (
        f"A big blind is {reviews.big_blind} chips here, heads-up both stacks are the smaller one, and there is no"
        " rake. EV: what is won from here on, a fold being 0, against the range that sound play leaves the other player"
        " by what they have done. Turn and river are solved to the end of the hand. Both ranges there come from the"
        f" rounds before, which are solved with values of the agent's game of {stacks} big blinds."
    )


def _no_leaks_text(hands: list[ListedHand], found: int, unreviewable: Counter[str]) -> str:
    """Return why no leaks are listed, if `found` hands are searched; `hands` are the costliest of them."""
    if any(hand.cost is not None for hand in hands):
        return "No decision that is reviewed has certainly cost anything."
    if unreviewable.total() == found:
        why = f": {words.reasons(unreviewable)}" if unreviewable else ""
        return f"None of the {found:,} hands found can be reviewed{why}. Reviews are of heads-up no-limit hands."
    return "No decision of these hands is reviewed yet: press Review these hands."


def _reviewed_text(reviewed: int, hands: Counter[str], decisions: Counter[str]) -> str:
    """Return the number of reviewed hands, and why other hands and some decisions are not reviewed."""
    parts = [f"{reviewed:,} hands reviewed"]
    parts += [f"{hands.total():,} hands cannot be: {words.reasons(hands)}"] * bool(hands)
    parts += [f"{decisions.total():,} decisions in them cannot be: {words.reasons(decisions)}"] * bool(decisions)
    return "; ".join(parts)


def _hand_cells(one: ListedHand) -> dict[str, Any]:
    """Return the HTML of a hand's cells by the column."""
    cards = {"cards": words.row_cards(one.cards), "board": words.row_cards(one.board)}
    texts = {name: escape(getattr(one, name)) for name in ("stakes", "position", "line")} | {"begun": one.begun[:16]}
    cost = "" if one.cost is None else f"{one.cost:.2f}"
    amounts = {"pot": f"{one.pot:,.4g}", "net": _signed(one.net), "expected": _signed(one.expected), "cost": cost}
    return {"key": one.hand, **texts, **cards, **amounts}


def _signed(amount: float) -> str:
    return f"{amount:+,.4g}" if amount else "0"


def _profiles_html(profiles: Mapping[str, Profile]) -> str:
    """Return the HTML of the statistics of players, with their counts."""
    if not profiles:
        return "<p>No hand is found.</p>"

    def cell(profile: Profile, measure: str) -> str:
        did, of, share = profile.did[measure], profile.opportunities[measure], profile.share(measure)
        text = "-" if share is None else f"{share:.2f}" if measure == AF else f"{share:.0%}"
        return f"<td>{text}<br><span class=quiet>{did:,}/{of:,}</span></td>"

    rows = (
        f"<tr><th scope=row>{escape(words.seat_name(name))}</th><td>{profile.hands:,}</td>"
        f"{''.join(cell(profile, measure) for measure in MEASURES)}</tr>"
        for name, profile in profiles.items()
    )
    table = words.table_html(("player", "hands", *MEASURES), rows)
    return f"<div class=scroll>{table}</div><p class=quiet>{_MEASURED}</p>"


def _results_html(results: list[tuple[str, float, float]]) -> str:
    """Return the HTML of the number of hands and the big blinds won and expected, also by position."""
    if not results:
        return "<p>No hand is found.</p>"
    positions, both, rows = np.array([row[0] for row in results]), np.array([row[1:] for row in results]), []
    for name in ("all", *sorted(set(positions.tolist()))):
        hands = both[(positions == name) | (name == "all")]
        cells = (f"<td>{nets.sum():+,.1f}</td><td>{estimate(100 * nets)}</td>" for nets in hands.T)
        rows.append(f"<tr><th scope=row>{name}</th><td>{len(hands):,}</td>{''.join(cells)}</tr>")
    heads = "position", "hands", "bb", "bb per 100 hands", "all-in EV", "all-in EV per 100 hands"
    sums = [0.0, *accumulate(net for _, net, _ in results)]
    won = f"{sums[-1]:+.1f}, least {min(sums):+.1f}, most {max(sums):+.1f}"
    table = f"<div class=scroll>{words.table_html(heads, rows)}</div><p class=quiet>{_EXPECTED}</p>"
    return f"<p class=quiet>Big blinds won over {len(results):,} hands: {won}</p>{table}"


def won_graph(nets: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the options of a graph of cumulative winnings.

    Args:
        nets: [N] big blinds won in each hand, by the name of the curve.
    """
    hands = max(map(len, nets.values()))
    shown = sorted({*range(0, hands + 1, max(1, (hands + 1) // _POINTS)), hands})
    sums = {name: [0.0, *accumulate(values)] for name, values in nets.items()}
    curve = {"type": "line", "showSymbol": False, "animation": False}
    lines = {"splitLine": {"lineStyle": {"opacity": 0.3}}}
    return {
        "xAxis": {**lines, "name": "hands", "nameLocation": "middle", "nameGap": 28, "max": hands},
        "yAxis": {**lines, "name": "bb won"},
        "grid": {"left": 60, "right": 24, "top": 32, "bottom": 44},
        "legend": {"top": 0, "right": 24, "textStyle": {"color": "#888"}},
        "series": [{**curve, "name": name, "data": [(at, one[at]) for at in shown]} for name, one in sums.items()],
        "aria": {"enabled": True},
    }
