"""Hands of a file in the browser: one is chosen from a list, and reviewed like those at the table."""

import threading
from collections import Counter
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from nicegui import run, ui
from nicegui.events import UploadEventArguments

from poker.formats.acpc.log import LoggedHand
from poker.formats.histories import KNOWN
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.store.artifacts import fingerprint_of_settings
from poker.store.lru_cache import LRUCache
from poker.studio.games.pool import Pool
from poker.studio.games.table_game import Seen
from poker.studio.hands.hand_file import FileReviews, HandFile
from poker.studio.hands.review import decisions_of
from poker.studio.pages import words
from poker.studio.pages.elements import Fill, Needs, UnitSwitch, html, tabs
from poker.studio.panels.review import MistakesPanel, ReviewPanel, ReviewStore
from poker.studio.server.access import MOST_UPLOADED
from poker.studio.server.visitors import REVIEWER, PooledSolver, reviewing

_KEPT = 8
"""Files that are kept: those of the latest visitors."""
_ROWS = 12
_REASONS = 6
_NAME = f"A file of hands: {KNOWN}"
UPLOAD = f"""
<div class="q-uploader__header-content flex flex-center no-wrap q-gutter-xs">
  <div class="col q-uploader__title">{_NAME}</div>
  <q-btn type="a" icon="add" flat dense v-if="props.canAddFiles" @click="props.pickFiles" aria-label="Choose a file">
    <q-uploader-add-trigger aria-label="{_NAME}" />
  </q-btn>
</div>"""
"""Quasar's own header, with names for the button and the field."""


def make(
    _: Needs, game: Rules, reviewer: AgentSpec | None, log: str | None, out: str, processes: int | None = 0
) -> Fill:
    first = None
    if log is not None:
        try:
            first = HandFile.read(Path(log).name, Path(log).read_bytes(), game)
        except OSError as error:
            raise PokernetsError(f"{log} cannot be read: {error.strerror or error}") from error
    shared = _Reviewing(game, reviewer, Path(out), reviewing(game, {REVIEWER: reviewer}, processes))
    files: LRUCache[str, HandFile] = LRUCache(_KEPT)

    async def fill(visitor: str) -> None:
        _Hands(shared, files, visitor, first)

    return fill


@dataclass(frozen=True)
class _Reviewing:
    """Settings and processes that all visitors share; the agent solves in the latter, started when first needed."""

    game: Rules
    spec: AgentSpec | None
    out: Path
    pool: Pool

    @property
    def note(self) -> str:
        depth = f"{min(self.game.stacks) / self.game.big_blind:.4g}"
        return (
            f"A big blind is {self.game.big_blind} chips here, both stacks are the smaller one, and there is no rake."
            " EV: what is won from here on, a fold being 0, against the range that sound play with these stacks leaves"
            " the other player by what they have done. Turn and river are solved to the end of the hand; both ranges"
            " there come from solves of the rounds before, whose ends are valued as in the agent's game of"
            f" {depth} big blinds."
        )

    def of(self, visitor: str, file: HandFile, player: str) -> tuple[ReviewStore, dict[int, LoggedHand], Counter[str]]:
        """Hands of a player and their reviews, kept for this file and these settings, and counts of hands left out."""
        hands, left_out = file.of(player)
        settings = {} if self.spec is None else dict(self.spec.settings)
        mark = fingerprint_of_settings(settings, self.game.to_acpc(), file.digest, player)
        folder = self.out / visitor / mark[:16]
        folder.mkdir(parents=True, exist_ok=True)
        solver = PooledSolver(self.pool, visitor)
        reviews = FileReviews(self.game, folder / "reviews.jsonl", lambda: solver, threading.Lock())
        store = ReviewStore(reviews, lambda: list(hands.values()), lambda number: hands[number].state.rules, player)
        return store, hands, left_out


class _Hands:
    """One browser's page. Its visitor's last file is there again when it is opened anew."""

    def __init__(
        self, reviewing: _Reviewing, files: LRUCache[str, HandFile], visitor: str, first: HandFile | None
    ) -> None:
        self._reviewing, self._files, self._visitor = reviewing, files, visitor
        self._rendered: tuple[HandFile | None, str | None] = None, ""
        self._opened: LoggedHand | None = None
        with ui.element("div").classes("columns"):
            with ui.element("section").classes("hands-side").props('aria-label="Hands of a file"'):
                upload = ui.upload(
                    auto_upload=True, max_file_size=MOST_UPLOADED, on_upload=self._uploaded, on_rejected=self._rejected
                )
                upload.props("flat bordered").classes("upload").add_slot("header", UPLOAD)
                self._status = html("quiet").props("role=status")
                self._player = ui.select([], label="Whose decisions", on_change=self._choose).classes("player")
                self._legend = ui.label("Cards, stack, result, decisions that can be reviewed:").classes("quiet")
                self._list = ui.element("div").classes("mistakes").props('role=group aria-label="Hands"')
                self._pages = ui.pagination(1, 1, direction_links=True, on_change=self._show_rows)
                self._unit = UnitSwitch()
                self._history = html("history")
                self._unit.add(self._history, self._show_hand)
            self._beside = ui.element("section").classes("beside").props('aria-label="Review"')
        self._show_file(files.get(visitor) or first)

    async def _uploaded(self, event: UploadEventArguments) -> None:
        if event.file.size() > MOST_UPLOADED:
            self._rejected()
            return
        self._status.set_content("Reading …")
        data = await event.file.read()
        try:
            file = await run.io_bound(HandFile.read, event.file.name, data, self._reviewing.game)
        except PokernetsError as error:
            self._show_file(None)
            self._status.set_content(_alert(str(error)))
            return
        if file is not None:  # the server goes on
            self._files.put(self._visitor, file)
            self._show_file(file)

    def _rejected(self) -> None:
        self._status.set_content(_alert(f"A file has at most {MOST_UPLOADED >> 20} MiB."))

    def _show_file(self, file: HandFile | None) -> None:
        self._file = file
        players = file.players() if file else []
        self._status.set_content(_told(file, file.left_out) if file else "")
        self._player.set_visibility(bool(players))
        self._player.set_options(players, value=players[0] if players else None)
        self._choose()

    def _choose(self) -> None:
        """Show the hands of the player chosen."""
        if self._rendered == (self._file, self._player.value):
            return
        self._rendered = self._file, self._player.value
        self._beside.clear()
        self._opened = None
        self._show_hand()
        self._hands: dict[int, LoggedHand] = {}
        if self._file is not None and self._player.value:
            self._store, self._hands, left_out = self._reviewing.of(self._visitor, self._file, self._player.value)
            self._status.set_content(_told(self._file, left_out))
            self._panels()
        self._pages.max = max(1, -(-len(self._hands) // _ROWS))
        self._pages.set_visibility(self._pages.max > 1)
        self._legend.set_visibility(bool(self._hands))
        self._unit.set_visibility(bool(self._hands))
        self._pages.set_value(1)
        self._show_rows()

    def _panels(self) -> None:
        store = self._store
        with self._beside:
            bar, (review, mistakes) = tabs("Review", "Mistakes")
        opened = partial(bar.set_value, "Review")
        with review:
            self._review = ReviewPanel(store.reviews, self._unit, opened, "Choose a hand.", self._reviewing.note)
        with mistakes:
            MistakesPanel(store, self._unit, lambda number, state, seat, at: self._open(self._hands[number], at))

    def _show_rows(self) -> None:
        start = ((self._pages.value or 1) - 1) * _ROWS
        self._list.clear()
        with self._list:
            for hand in list(self._hands.values())[start : start + _ROWS]:
                button = ui.button(_row(hand, self._store), on_click=partial(self._open, hand))
                button.props("no-caps flat dense align=left")

    async def _open(self, hand: LoggedHand, at: str | None = None) -> None:
        seat = hand.names.index(self._store.name)
        self._opened = hand
        self._show_hand()
        await self._review.open(hand.number, hand.state, seat, at)

    def _show_hand(self) -> None:
        hand = self._opened
        if hand is None:
            self._history.set_content("")
            return
        seen = Seen(hand.number, hand.names.index(self._store.name), hand.names, hand.state, None)
        history = words.history_html(seen, self._unit.of(hand.state.rules.big_blind))
        self._history.set_content(history + words.results_html(hand.names, hand.state, hand.payoffs))


def _row(hand: LoggedHand, store: ReviewStore) -> str:
    seat, rules = hand.names.index(store.name), hand.state.rules
    decisions = sum(1 for _ in decisions_of(hand.state, seat))
    reviewed = len(store.reviews.reviewed(hand.state, seat))
    return (
        f"Hand {hand.number + 1}: {rules.cards_text(hand.state.hole_cards[seat])},"
        f" {min(rules.stacks) / rules.big_blind:.4g} bb deep, {hand.payoffs[seat] / rules.big_blind:+.4g} bb,"
        f" {f'{reviewed} of ' if reviewed < decisions else ''}{decisions} decisions"
    )


def _told(file: HandFile, left_out: Counter[str]) -> str:
    """HTML of the number of hands, why some are left out, and which lines cannot be read."""
    rows = [f"{count} left out: {reason}" for reason, count in left_out.most_common(_REASONS)]
    rows += [f"line {error.line}: {error.reason}" for error in file.errors[:_REASONS]]
    more = max(0, len(left_out) - _REASONS) + max(0, len(file.errors) - _REASONS)
    rows += [f"and {more} more"] * bool(more)
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    beside = (
        '<p>The page <a href="/database">Database</a> has results and statistics of all hands; its leaks and drills are'
        " of hands that can be reviewed, like those here.</p>"
    )
    unread = f", {len(file.errors):,} more cannot be read" if file.errors else ""
    return f"<p>{escape(file.name)}: {file.count:,} hands{unread}</p><ul>{items}</ul>{beside * bool(left_out)}"


def _alert(text: str) -> str:
    return f'<p role="alert">{escape(text)}</p>'
