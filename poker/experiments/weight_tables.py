"""How much weight tables know: log-likelihood of the hands that people showed, against all hands being equally likely.

`evaluate=weight_tables` replays the hands of the IRC archive in the order of time, and keeps the tables of everybody
whose cards are known at the end as an onlooker would. After each round of betting the gain log p(hand) - log(1 /
possible hands) is noted; predictors and calibration learn from a hand only after that. The unit of intervals is a hand,
averaged over the players who showed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from poker.cards import HOLDEM, cards_text, hand_index
from poker.errors import PokernetsError
from poker.formats.irc import Problems, read_hands
from poker.formats.irc_replay import IrcHand, replay_all
from poker.opponents.model import NUM_STREETS, Predictor
from poker.opponents.modelling import Modelling, tracker_for
from poker.opponents.preflop import IncomeRates
from poker.opponents.tracker import Tracker
from poker.progress import progress_bars
from poker.report import Figure, Report, Section, Table, Text
from poker.report.charts import intervals
from poker.report.estimates import Estimate, estimate
from poker.report.grids import weight_grid
from poker.rules import STREET_NAMES
from poker.types import Board, Singles


@dataclass(frozen=True, eq=False)
class RoundEnd:
    """The end of a round of betting: its board, and the table [1326] of each player who showed."""

    street: int
    board: Board
    tables: dict[int, Singles]

    def gain(self, hand: IrcHand) -> float:
        """log p(cards held) - log(1 / possible hands), in nats, the mean over the players."""
        live = HOLDEM.live(self.board)
        total = 0.0
        for player, weights in self.tables.items():
            weight = float(weights[hand_index(*hand.hole_cards[player])])
            total += float(np.log(weight / weights[live].sum(dtype=np.float64)) + np.log(live.sum()))
        return total / len(self.tables)


@dataclass
class Gains:
    """[hands] gains in nats per hand, by street; the uniform table has 0. Tables of some hands as pictures."""

    by_street: list[list[float]] = field(default_factory=lambda: [[] for _ in range(NUM_STREETS)])
    pictures: list[Figure] = field(default_factory=list)

    def add(self, hand: IrcHand, ends: Sequence[RoundEnd], *, drawn: bool = False) -> None:
        """Add the gains after the rounds of a hand, and its tables as pictures if it is `drawn`."""
        for end in ends:
            self.by_street[end.street].append(end.gain(hand))
            if drawn:
                self.pictures += [_picture(hand, player, end) for player in end.tables]

    @property
    def estimates(self) -> dict[str, Estimate]:
        return dict(zip(STREET_NAMES, map(estimate, self.by_street), strict=True))


def run(
    *,
    path: str,
    preflop: str,
    modellings: Sequence[Modelling],
    net: Predictor | None,
    hands: int | None,
    spread: bool,
    pictures: int,
    out: str,
) -> dict[str, Gains]:
    """Measure each of `modellings` on the first `hands` hands with cards shown (None: on all), and read no further.

    With `spread` these hands lie evenly over the archive, all of which is read. The tables of the first `pictures` of
    them are drawn.
    """
    if hands is not None and hands < 1:
        raise PokernetsError("`hands` must be at least 1, or null for all hands with cards shown")
    if not Path(path).exists():
        raise PokernetsError(f"evaluate=weight_tables needs path=ARCHIVE, a .tgz or directory of IRC hands, not {path}")
    if net is not None and {"net", "best_of"} <= set(modellings):
        raise PokernetsError(
            "modellings: `net` and `best_of` would teach the one net every hand twice; choose one of them"
        )
    problems = Problems()
    rates = IncomeRates.load(preflop)
    found: dict[str, Gains] = {modelling: Gains() for modelling in modellings}
    trackers = {modelling: tracker_for(modelling, net, rates) for modelling in modellings}
    archive = replay_all(read_hands(path, problems), problems)
    chosen = evenly(list(archive), hands) if spread else up_to(archive, hands)
    measured = read = 0
    with progress_bars("hands with cards shown") as bars:
        bar = bars.add_task("weight tables", total=hands, found="")
        for hand, is_measured in chosen:
            read += 1
            measured += is_measured
            for modelling, tracker in trackers.items():
                found[modelling].add(hand, replay_hand(tracker, hand, is_measured), drawn=measured <= pictures)
            bars.update(bar, completed=measured, found=f"{read:,} hands read")
    if not measured:
        raise PokernetsError(f"{path} has no hand in which cards were shown")
    _report(found, Path(path), read).write(Path(out))
    return found


def replay_hand(tracker: Tracker, hand: IrcHand, measured: bool) -> list[RoundEnd]:
    """Learn from one hand; where it is `measured`, keep the tables of players who showed, and learn their cards."""
    shown = [i for i, cards in enumerate(hand.hole_cards) if cards] if measured else []
    tracker.begin(len(hand.names), hand.names)
    street = 0
    board: Board = ()
    ends: list[RoundEnd] = []

    def note() -> None:
        if shown:
            ends.append(RoundEnd(street, board, dict(zip(shown, tracker.tables(shown), strict=True))))

    for state, move in hand.states():
        if state.street > street:
            note()
        street, board = state.street, state.board
        if move.player == state.to_act:
            tracker.observe(state.betting, board, move.action, reweight=move.player in shown and not move.left)
    note()
    if shown:
        tracker.conclude(hand.hole_cards)
    return ends


def up_to(archive: Iterable[IrcHand], hands: int | None) -> Iterator[tuple[IrcHand, bool]]:
    """Hands up to number `hands` with cards shown, and whether each is measured."""
    left = hands
    for hand in archive:
        is_shown = _is_shown(hand)
        yield hand, is_shown
        if left is not None and is_shown:
            left -= 1
            if not left:
                return


def evenly(archive: Sequence[IrcHand], hands: int | None) -> list[tuple[IrcHand, bool]]:
    """All hands, and whether each is measured: `hands` with cards shown, evenly spread."""
    shown = [number for number, hand in enumerate(archive) if _is_shown(hand)]
    some = shown if hands is None else [shown[i * len(shown) // hands] for i in range(min(hands, len(shown)))]
    measured = set(some)
    return [(hand, number in measured) for number, hand in enumerate(archive)]


def _is_shown(hand: IrcHand) -> bool:
    return any(hand.hole_cards) and len(hand.board) == 5


def _picture(hand: IrcHand, player: int, end: RoundEnd) -> Figure:
    on = f", board {cards_text(end.board)}" if end.board else ""
    held, street = cards_text(hand.hole_cards[player]), STREET_NAMES[end.street]
    title = f"{hand.names[player]} after {street} betting{on}; holds {held}"
    draw = partial(weight_grid, title, end.tables[player])
    return Figure(f"{hand.stamp}-{end.street}{street}-{player + 1}", draw)


def _report(found: dict[str, Gains], path: Path, read: int) -> Report:
    estimates = {name: gains.estimates for name, gains in found.items()}
    record = {
        "unit": "nats per hand over the uniform table, at the end of each round; 95% intervals",
        "archive": path.name,
        "hands_read": read,
        "modelling": {
            name: {street: {"gain": round(e.mean, 4), **e.interval(4), "hands": e.n} for street, e in by_street.items()}
            for name, by_street in estimates.items()
        },
    }
    title = "Log-likelihood gain over the uniform table"
    rows = [(name, *(f"{e} ({e.n:,})" for e in by_street.values())) for name, by_street in estimates.items()]
    panels = {street: [(name, by_street[street]) for name, by_street in estimates.items()] for street in STREET_NAMES}
    note = f"nats per hand at the end of each round, 95% intervals, (hands); {read:,} hands were read"
    sections: list[Section] = [
        Table(("modelling", *STREET_NAMES), rows, title, note),
        Figure("results", partial(intervals, f"{title}, at the end of each round", "nats per hand", panels)),
    ]
    for name, gains in found.items():
        drawn = [replace(picture, name=f"{name}/{picture.name}") for picture in gains.pictures]
        if drawn:
            sections.append(Text("of each player who showed, after each round", f"Tables of {name}", console=False))
        sections += drawn
    return Report("How much weight tables know", sections, record)
