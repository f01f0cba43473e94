"""`evaluate=opponent_given_hand`: how well models know with which hands people act, where all cards are known.

The frequencies of a decision are those of a net that knows no cards. What every hand does follows as in a search
against a model (`poker.opponents.habits.by_hand`), by strength or by a net that reads the cards held, over the range
that the player's earlier actions of the hand have left; or from such a net alone. Log-losses of the action given the
hand, on hands from which no net has learned.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.opponent.data import OpponentRows
from models.opponent.inference import load_opponent_net, with_hands
from models.opponent.record import NetRecord
from models.opponent.table import bootstrap
from poker.game.cards import HOLDEM, NO_CARD, hand_index
from poker.game.rules import Rules
from poker.kernels.types import Board, Floats
from poker.opponents.habits import by_hand, log_odds, strength_odds
from poker.opponents.hand_classes import HandClasses, by_inputs, by_mean_inputs, by_strength
from poker.opponents.inputs.history import by_class
from poker.opponents.inputs.no_limit import NOTHING, SPOTS
from poker.opponents.model import RAISE_CLASS
from poker.opponents.shown import BLUFFS, STEEPNESS, Shape, ShownHands, group_of
from poker.report import Report, Table
from poker.run.progress import Console

_Classify = Callable[[int], tuple[HandClasses, Floats]]
"""Gives the classes of hands in a row, and the log odds of each."""


class _Step(NamedTuple):
    """A row with its classes of hands, the range [1, H] before the action, and the probability of the action with the
    hand held."""

    row: int
    classes: HandClasses
    odds: Floats
    weights: Floats
    chance: float


PARTS = ("before the flop", "after it, nothing asked", "after it, facing a bet")


def run(*, data: str, net: str, held: str, game: Rules, learned_hands: int, out: str) -> dict[str, float]:
    """Measure on the hands of `data` that the nets `net` and `held` kept for tests; the report goes to `out`.

    The shape of this population is learned from the first `learned_hands` hands that the nets were trained on.
    """
    trained = [NetRecord.read(path, name) for path, name in ((net, "net"), (held, "held"))]
    rows = OpponentRows(data, trained[0].test_share)
    for each in trained:
        each.check_unseen(rows)
    nets = [load_opponent_net(path) for path in (net, held)]
    inputs = rows.inputs({"hand", "held"}, None)
    frequencies, given = (by_class(net.probs(inputs)).astype(np.float64) for net in nets)
    walk = _Walk(rows, frequencies)
    by_any, by_strong = partial(by_strength, game), partial(by_strength, game, people=True)

    def of_strength(classes: Callable[[list[Board]], HandClasses], row: int) -> tuple[HandClasses, Floats]:
        return classes([walk.boards[row]]), strength_odds(walk.spots[row])[None]

    def of_net(classes: Callable[[Board], HandClasses], row: int) -> tuple[HandClasses, Floats]:
        of_board = classes(walk.boards[row])
        assert of_board.held is not None
        return of_board, log_odds(with_hands(nets[1], inputs.take(np.array([row])), of_board.held))

    def to_come(board: Board) -> HandClasses:
        return by_mean_inputs(game, (board,)) if board else by_inputs(game, board)

    population, usual, exact = ShownHands(), ShownHands(), ShownHands.exact()
    learned = np.flatnonzero(rows.columns["hand"] < learned_hands)
    for row, classes, odds, weights, _ in walk.over(learned, partial(of_strength, by_any), usual):
        looked = partial(by_hand, classes, odds, frequencies[[row]], weights)
        at = 0, walk.held[row], walk.kind[row]
        looking = [[looked(Shape(steep, share, 0.0))[at] for share in BLUFFS] for steep in STEEPNESS]
        population = population.after(walk.group(row), np.array(looking), float(frequencies[row, walk.kind[row]]))
    test = rows.test_rows
    losses = {"the net alone": -np.log(frequencies[test, walk.kind[test]])}
    groups = [walk.group(row) for row in test.tolist()]
    for name, shapes, classify in (
        ("by strength", usual, partial(of_strength, by_any)),
        ("by strength, of this population", population, partial(of_strength, by_any)),
        ("by strength against strong hands", usual, partial(of_strength, by_strong)),
        ("by a net, on boards to come", exact, partial(of_net, to_come)),
        ("by a net, on the board at hand", exact, partial(of_net, partial(by_inputs, game))),
    ):
        losses[name] = -np.log(np.maximum([step.chance for step in walk.over(test, classify, shapes)], 1e-6))
    losses["a net that sees the hand"] = -np.log(given[test, walk.kind[test]])
    record = _record(losses, np.array(groups), rows.columns["hand"][test])
    record["shapes"] = {part: population.shape(group)._asdict() for group, part in enumerate(PARTS)}
    record["rows"] = {"test": len(test), "fingerprint": rows.fingerprint}
    table = [[name, *(part["log_loss"]["mean"] for part in parts.values())] for name, parts in record["models"].items()]
    heading = f"Log-loss of the action given the hand, {len(test):,} decisions ({out})"
    Report(
        "Actions given the hand",
        [Table(("model", *next(iter(record["models"].values()))), table, heading)],
        record,
    ).write(Path(out), Console(stderr=True))
    return {name: float(parts["all"]["log_loss"]["mean"]) for name, parts in record["models"].items()}


def _record(losses: dict[str, Floats], group: NDArray[np.int64], hand: NDArray[np.int32]) -> dict[str, Any]:
    """Means by part, with intervals over hands, and differences to what a search does, `by strength`."""
    parts = {"all": np.ones(len(group), dtype=bool), **{part: group == at for at, part in enumerate(PARTS)}}
    parts = {part: some for part, some in parts.items() if some.any()}
    models: dict[str, Any] = {}
    for name, loss in losses.items():
        less = loss - losses["by strength"]
        models[name] = {
            part: {
                "rows": int(some.sum()),
                "log_loss": _mean(loss[some], hand[some]),
                "less_by_strength": _mean(less[some], hand[some]),
            }
            for part, some in parts.items()
        }
    return {"models": models}


def _mean(values: Floats, groups: NDArray[np.int32]) -> dict[str, Any]:
    return {"mean": float(values.mean()), "interval_95": list(bootstrap(values, groups.astype(np.int64)))}


class _Walk:
    """Walks through rows and narrows each player's range by the player's actions of the hand."""

    def __init__(self, rows: OpponentRows, frequencies: Floats) -> None:
        columns = rows.columns
        self.kind = np.minimum(columns["action"], RAISE_CLASS).astype(np.int64)
        self.held = [hand_index(*cards) for cards in columns["held"].tolist()]
        self.boards = [tuple(card for card in board if card != NO_CARD) for board in columns["board"].tolist()]
        self.spots = list(zip(*(part.tolist() for part in np.unravel_index(columns["spot"], SPOTS)), strict=True))
        self._who = list(zip(columns["hand"].tolist(), columns["player"].tolist(), strict=True))
        self._frequencies = frequencies

    def group(self, row: int) -> int:
        """Group of the decision in a row (`poker.opponents.shown`)."""
        return group_of(self.spots[row][0], self.spots[row][1] != NOTHING)

    def over(self, chosen: NDArray[np.int64], classify: _Classify, shapes: ShownHands) -> Iterator[_Step]:
        """Steps of the `chosen` rows, which are whole hands, by the classes of a model."""
        hand, ranges = -1, dict[int, Floats]()
        usual = [shapes.shape(group) for group in range(len(PARTS))]
        for row in chosen.tolist():
            dealt, player = self._who[row]
            if dealt != hand:
                hand, ranges = dealt, {}
            classes, odds = classify(row)
            weights = ranges.get(player, np.ones(classes.of.shape)) * HOLDEM.live(self.boards[row])
            shape = usual[self.group(row)]
            chances = by_hand(classes, odds, self._frequencies[[row]], weights, shape)[..., self.kind[row]]
            yield _Step(row, classes, odds, weights, float(chances[0, self.held[row]]))
            ranges[player] = weights * chances
