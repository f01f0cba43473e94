"""How much weight tables know: log-likelihood of the hands that people showed, against all hands being equally likely.

`run` is what `evaluate.py evaluate=weight_tables` calls. Hands of the IRC archive are replayed in the order of time.
The tables of everybody whose cards are known at the end are kept as an onlooker would, and after each round of betting
the gain log p(hand) - log(1 / possible hands) is noted. Predictors learn from every hand, calibration from those that
are measured, and both only after what they said of it was noted. The unit of intervals is a hand, averaged over the
players who showed. The tables of the first hands that are measured are also drawn, as they stood after each round.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table as TextTable

from poker.artifacts import write_atomically
from poker.cards import cards_text, hand_index, live_hands
from poker.errors import PokernetsError
from poker.evaluation.pages.html import record_page
from poker.evaluation.provenance import provenance
from poker.evaluation.statistics import Estimate, estimate
from poker.formats.irc import Problems, read_hands
from poker.formats.irc_replay import IrcHand, replay_all
from poker.opponents.heatmap import save_heat_map
from poker.opponents.modelling import Modelling, habits_for, predictor_for
from poker.opponents.predictor import NUM_STREETS, Predictor
from poker.opponents.preflop import IncomeRates
from poker.opponents.tracker import Tracker

STREET_NAMES = ("preflop", "flop", "turn", "river")


@dataclass
class Gains:
    """[hands] gains in nats per hand, by street; the uniform table has 0."""

    by_street: list[list[float]] = field(default_factory=lambda: [[] for _ in range(NUM_STREETS)])

    def estimates(self) -> list[Estimate]:
        return [estimate(values) for values in self.by_street]


def run(
    *,
    path: str | None,
    preflop: str,
    modellings: Sequence[Modelling],
    net: Predictor | None,
    hands: int | None,
    pictures: int,
    out: str,
) -> dict[str, Gains]:
    """Measure each of `modellings` on `hands` hands with cards shown, spread over the archive (None: on all).

    The tables of the first `pictures` of them are drawn.
    """
    if path is None or not Path(path).exists():
        raise PokernetsError(f"evaluate=weight_tables needs path=ARCHIVE, a .tgz or directory of IRC hands, not {path}")
    if net is not None and {"net", "best_of"} <= set(modellings):
        raise PokernetsError(
            "modellings: `net` and `best_of` would teach the one net every hand twice; choose one of them"
        )
    problems = Problems()
    archive = list(replay_all(read_hands(path, problems), problems))
    measured = measured_hands(archive, hands)
    if not measured:
        raise PokernetsError(f"{path} has no hand in which cards were shown")
    rates = IncomeRates.load(preflop)
    found: dict[str, Gains] = {modelling: Gains() for modelling in modellings}
    trackers = {modelling: _tracker(modelling, net, rates) for modelling in modellings}
    drawn = 0
    for number, hand in enumerate(track(archive, "weight tables", console=Console(stderr=True))):
        is_measured = number in measured
        drawn += is_measured
        for modelling, tracker in trackers.items():
            folder = Path(out) / modelling if is_measured and drawn <= pictures else None
            replay_hand(tracker, hand, found[modelling] if is_measured else None, folder)
    _report(found, Path(out), Path(path), len(archive))
    return found


def _tracker(modelling: Modelling, net: Predictor | None, rates: IncomeRates) -> Tracker:
    predictor = predictor_for(modelling, net)
    return Tracker(predictor, rates, habits_for(modelling, predictor))


def measured_hands(archive: Sequence[IrcHand], hands: int | None) -> set[int]:
    """Numbers of at most `hands` hands with cards shown, evenly spread."""
    shown = [number for number, hand in enumerate(archive) if any(hand.hole_cards) and len(hand.board) == 5]
    if hands is None or hands >= len(shown):
        return set(shown)
    return {shown[i * len(shown) // hands] for i in range(hands)}


def replay_hand(tracker: Tracker, hand: IrcHand, gains: Gains | None, pictures: Path | None = None) -> None:
    """Learn from one hand; with `gains`, keep tables of the players who showed and note how much they knew.

    With `pictures` they are drawn there after each round.
    """
    shown = [i for i, cards in enumerate(hand.hole_cards) if cards] if gains is not None else []
    tracker.begin(len(hand.names), hand.names)
    street = 0
    board: tuple[int, ...] = ()
    noted: list[tuple[int, float]] = []

    def note() -> None:
        if shown:
            noted.append((street, _gain(tracker, hand, shown, board)))
        if pictures is not None:
            _draw(tracker, hand, shown, street, pictures)

    for state, move in hand.states():
        if state.street > street:
            note()
            street = state.street
        board = state.board
        if move.player == state.to_act:
            tracker.observe(state.betting, board, move.action, reweight=move.player in shown and not move.left)
    if gains is None or not shown:
        return
    note()
    for seen, gain in noted:
        gains.by_street[seen].append(gain)
    tracker.conclude(hand.hole_cards)


def _gain(tracker: Tracker, hand: IrcHand, shown: list[int], board: tuple[int, ...]) -> float:
    """Mean over the players who showed, at the end of a round with this board."""
    live = live_hands(board)
    total = 0.0
    for player, weights in zip(shown, tracker.tables(shown), strict=True):
        weight = float(weights[hand_index(*hand.hole_cards[player])])
        total += float(np.log(weight / weights[live].sum(dtype=np.float64)) + np.log(live.sum()))
    return total / len(shown)


def _draw(tracker: Tracker, hand: IrcHand, shown: list[int], street: int, folder: Path) -> None:
    """`<stamp>-<street>-<player>.png` for each player who showed."""
    folder.mkdir(parents=True, exist_ok=True)
    for player, weights in zip(shown, tracker.tables(shown), strict=True):
        name, held = hand.names[player], cards_text(hand.hole_cards[player])
        board = cards_text(hand.board[: hand.rules.board_sizes[street]])
        title = f"{name} after {STREET_NAMES[street]} betting{f', board {board}' if board else ''}; holds {held}"
        save_heat_map(weights, folder / f"{hand.stamp}-{street}{STREET_NAMES[street]}-{player + 1}.png", title)


def _report(found: dict[str, Gains], out: Path, path: Path, archive: int) -> None:
    record: dict[str, Any] = {
        "unit": "nats per hand over the uniform table, at the end of each round; 95% intervals",
        "archive": path.name,
        "hands_in_archive": archive,
        "modelling": {
            name: {
                street: {"gain": round(e.mean, 4), "half_width_95": round(e.half_width, 4), "hands": e.n}
                for street, e in zip(STREET_NAMES, gains.estimates(), strict=True)
            }
            for name, gains in found.items()
        },
        **provenance(),
    }
    write_atomically(out / "weight_tables.json", json.dumps(record, indent=1).encode() + b"\n")
    record_page("How much weight tables know", record).write(out / "weight_tables.html")
    text = TextTable(title="Log-likelihood gain over the uniform table, nats per hand")
    for heading in ("modelling", *STREET_NAMES):
        text.add_column(heading)
    for name, gains in found.items():
        text.add_row(name, *(f"{e.mean:+.3f} ± {e.half_width:.3f} ({e.n:,})" for e in gains.estimates()))
    console = Console()
    console.print(text)
    console.print(f"results: {out / 'weight_tables.json'}", soft_wrap=True, highlight=False)
    console.print(f"report: {out / 'weight_tables.html'}", soft_wrap=True, highlight=False)
