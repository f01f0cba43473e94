"""How much weight tables know: log-likelihood of the hands that people showed, against all hands being equally likely.

`evaluate=weight_tables` replays the hands of the IRC archive in the order of time, and keeps the tables of everybody
whose cards are known at the end as an onlooker would. After each round of betting the gain log p(hand) - log(1 /
possible hands) is noted; predictors and calibration learn from a hand only after that. The unit of intervals is a hand,
averaged over the players who showed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from poker.formats.irc.archive import Problems, read_hands
from poker.formats.irc.replay import IrcHand, replay_all
from poker.game.cards import HOLDEM, hand_index
from poker.game.rules import STREET_NAMES
from poker.kernels.types import Board, Singles
from poker.opponents.limit.modelling import Modelling, tracker_for
from poker.opponents.limit.preflop import IncomeRates
from poker.opponents.limit.tracker import Tracker
from poker.opponents.model import NUM_STREETS, Predictor
from poker.report import Figure, Report, Section, Table
from poker.report.charts import intervals
from poker.report.estimates import Estimate, estimate
from poker.run.errors import PokernetsError
from poker.run.progress import progress_bars


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
    """[hands] gains in nats per hand, by street; the uniform table has 0."""

    by_street: list[list[float]] = field(default_factory=lambda: [[] for _ in range(NUM_STREETS)])

    def add(self, hand: IrcHand, ends: Sequence[RoundEnd]) -> None:
        """Add the gains after the rounds of a hand."""
        for end in ends:
            self.by_street[end.street].append(end.gain(hand))

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
    out: str,
) -> dict[str, Gains]:
    """Measure each of `modellings` on `hands` hands with cards shown, evenly over the archive (None: on all)."""
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
    gains: dict[str, Gains] = {modelling: Gains() for modelling in modellings}
    trackers = {modelling: tracker_for(modelling, net, rates) for modelling in modellings}
    chosen = evenly(list(replay_all(read_hands(path, problems), problems)), hands)
    if not any(is_measured for _, is_measured in chosen):
        raise PokernetsError(f"{path} has no hand in which cards were shown")
    with progress_bars("hands") as bars:
        bar = bars.add_task("weight tables", total=len(chosen), found="")
        for hand, is_measured in chosen:
            for modelling, tracker in trackers.items():
                gains[modelling].add(hand, replay_hand(tracker, hand, is_measured))
            bars.advance(bar)
    _report(gains, Path(path), len(chosen)).write(Path(out))
    return gains


def replay_hand(tracker: Tracker, hand: IrcHand, measured: bool) -> list[RoundEnd]:
    """Learn from one hand; where it is `measured`, return the tables of players who showed, and learn their cards."""
    players = [i for i, cards in enumerate(hand.hole_cards) if cards] if measured else []
    tracker.begin(len(hand.names), hand.names)
    street = 0
    board: Board = ()
    ends: list[RoundEnd] = []

    def note() -> None:
        if players:
            ends.append(RoundEnd(street, board, dict(zip(players, tracker.tables(players), strict=True))))

    for state, move in hand.states():
        if state.street > street:
            note()
        street, board = state.street, state.board
        if move.player == state.to_act:
            tracker.observe(state.betting, board, move.action, reweight=move.player in players and not move.left)
    note()
    if players:
        tracker.conclude(hand.hole_cards)
    return ends


def evenly(archive: Sequence[IrcHand], hands: int | None) -> list[tuple[IrcHand, bool]]:
    """All hands, and whether each is measured: `hands` with cards shown, evenly spread."""
    candidates = [number for number, hand in enumerate(archive) if any(hand.hole_cards) and len(hand.board) == 5]
    if hands is None or hands > len(candidates):
        hands = len(candidates)
    measured = {candidates[i * len(candidates) // hands] for i in range(hands)}
    return [(hand, number in measured) for number, hand in enumerate(archive)]


def _report(gains: dict[str, Gains], path: Path, read: int) -> Report:
    estimates = {name: by_modelling.estimates for name, by_modelling in gains.items()}
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
    return Report("How much weight tables know", sections, record)
