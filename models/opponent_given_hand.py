"""`train.py model=opponent_given_hand`: how well models know with which hands people act, where all cards are known.

The frequencies of a decision are those of a net that knows no cards. What every hand does follows by strength, as in a
search against a model (`poker.opponents.habits.by_strength`), over the range that the player's earlier actions of the
hand have left; or from a net that reads the cards held. Log-losses of the action given the hand, on hands from which
no net has learned.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from models.opponent import bootstrap
from models.opponent_data import OpponentRows
from models.opponent_inference import load_opponent_net, probabilities
from models.opponent_record import NetRecord
from poker.cards import HOLDEM, hand_index
from poker.features.action_rows import NO_CARD
from poker.features.nolimit import NOTHING, SPOTS
from poker.features.opponent_history import by_class
from poker.opponents.habits import bins_of, by_strength
from poker.opponents.model import RAISE_CLASS
from poker.opponents.shown import BLUFFS, STEEPNESS, Shape, ShownHands, group_of
from poker.report import Report, Table
from poker.rules import Rules
from poker.types import Floats

PARTS = ("before the flop", "after it, nothing asked", "after it, facing a bet")


def run(*, data: str, net: str, held: str, game: Rules, learned_hands: int, output: str) -> dict[str, float]:
    """Measure on the hands of `data` that the nets `net` and `held` kept for tests; the report goes to `output`.

    The shape of this population is learned from the first `learned_hands` hands that the nets were trained on.
    """
    trained = [NetRecord.read(path, name) for path, name in ((net, "net"), (held, "held"))]
    rows = OpponentRows(data, trained[0].test_share)
    for each in trained:
        each.check_unseen(rows)
    nets = [load_opponent_net(path) for path in (net, held)]
    inputs = rows.inputs({"hand", "held"}, None)
    frequencies, given = (by_class(probabilities(known, inputs)).astype(np.float64) for known in nets)
    walk = _Walk(rows, frequencies, game)
    shown = ShownHands()
    for row, group, bins, weights in walk.over(np.flatnonzero(rows.columns["hand"] < learned_hands), ShownHands()):
        kind, hand = walk.kind[row], walk.held[row]
        looking = [
            [walk.chances(row, bins, weights, Shape(steep, share, 0.0))[hand, kind] for share in BLUFFS]
            for steep in STEEPNESS
        ]
        shown = shown.after(group, np.array(looking), float(frequencies[row, kind]))
    test = rows.test_rows
    losses = {
        "the net alone": -np.log(frequencies[test, walk.kind[test]]),
        "by strength": np.empty(len(test)),
        "by strength, of this population": np.empty(len(test)),
        "by strength against strong hands": np.empty(len(test)),
        "a net that sees the hand": -np.log(given[test, walk.kind[test]]),
    }
    usual = ShownHands()
    for name, shapes, walk.people in (
        ("by strength", usual, False),
        ("by strength, of this population", shown, False),
        ("by strength against strong hands", usual, True),
    ):
        groups: list[int] = []
        for at, (row, group, bins, weights) in enumerate(walk.over(test, shapes)):
            chance = walk.chances(row, bins, weights, shapes.shape(group))[walk.held[row], walk.kind[row]]
            losses[name][at] = -np.log(max(chance, 1e-6))
            groups.append(group)
    record = _record(losses, np.array(groups), rows.columns["hand"][test])
    record["shapes"] = {part: shown.shape(group)._asdict() for group, part in enumerate(PARTS)}
    record["rows"] = {"test": len(test), "fingerprint": rows.fingerprint}
    shown_rows = [
        [name, *(each["log_loss"]["mean"] for each in found.values())] for name, found in record["models"].items()
    ]
    heading = f"Log-loss of the action given the hand, {len(test):,} decisions ({output})"
    Report(
        "Actions given the hand",
        [Table(("model", *next(iter(record["models"].values()))), shown_rows, heading)],
        record,
    ).write(Path(output), Console(stderr=True))
    return {name: float(found["all"]["log_loss"]["mean"]) for name, found in record["models"].items()}


def _record(losses: dict[str, Floats], group: NDArray[np.int64], hand: NDArray[np.int32]) -> dict[str, Any]:
    """Means by part, with intervals over hands, and differences to what a search does, `by strength`."""
    parts = {"all": np.ones(len(group), dtype=bool), **{part: group == at for at, part in enumerate(PARTS)}}
    parts = {part: some for part, some in parts.items() if some.any()}
    found: dict[str, Any] = {}
    for name, loss in losses.items():
        found[name] = {}
        for part, some in parts.items():
            found[name][part] = {"rows": int(some.sum()), "log_loss": _mean(loss[some], hand[some])}
            found[name][part]["less_by_strength"] = _mean((loss - losses["by strength"])[some], hand[some])
    return {"models": found}


def _mean(values: Floats, groups: NDArray[np.int32]) -> dict[str, Any]:
    return {"mean": float(values.mean()), "interval_95": list(bootstrap(values, groups.astype(np.int64)))}


class _Walk:
    """Rows in turn, with the range that a player's earlier actions of the hand have left."""

    def __init__(self, rows: OpponentRows, frequencies: Floats, game: Rules) -> None:
        columns = rows.columns
        self.kind = np.minimum(columns["action"], RAISE_CLASS).astype(np.int64)
        self.held = [hand_index(*cards) for cards in columns["held"].tolist()]
        self._who = list(zip(columns["hand"].tolist(), columns["player"].tolist(), strict=True))
        self._boards = [tuple(card for card in board if card != NO_CARD) for board in columns["board"].tolist()]
        self._spots = list(zip(*(each.tolist() for each in np.unravel_index(columns["spot"], SPOTS)), strict=True))
        self._frequencies, self._game, self.people = frequencies, game, False

    def over(
        self, chosen: NDArray[np.int64], shapes: ShownHands
    ) -> Iterator[tuple[int, int, NDArray[np.int8], Floats]]:
        """Row, group of decisions, bins [1, H] of strength and range [1, H] before the action, for whole hands."""
        hand, ranges = -1, dict[int, Floats]()
        usual = [shapes.shape(group) for group in range(len(PARTS))]
        for row in chosen.tolist():
            dealt, player = self._who[row]
            if dealt != hand:
                hand, ranges = dealt, {}
            board, spot = self._boards[row], self._spots[row]
            group, bins = group_of(spot[0], spot[1] != NOTHING), bins_of(self._game, [board], self.people)
            weights = ranges.get(player, np.ones((1, self._game.num_hands))) * HOLDEM.live(board)
            yield row, group, bins, weights
            ranges[player] = weights * self.chances(row, bins, weights, usual[group])[:, self.kind[row]]

    def chances(self, row: int, bins: NDArray[np.int8], weights: Floats, shape: Shape) -> Floats:
        """[H, 3] of the hands in a row."""
        found = by_strength(bins, self._spots[row], self._frequencies[row][None], weights, shape)[0]
        return np.asarray(found, dtype=np.float64)
