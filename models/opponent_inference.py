"""Trained opponent nets: probabilities for whole tables of rows, and a `Predictor` for one decision at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.export import freeze, read_net
from models.opponent_data import UNKNOWN, OpponentBatch
from models.opponent_nets import NETS, OpponentNetModule
from poker.artifacts import open_artifact
from poker.betting import Betting
from poker.errors import PokernetsError
from poker.features import opponent, opponent_history
from poker.features.action_rows import MAX_BOARD, NO_CARD
from poker.kernels.opponent_history import hand_inputs
from poker.opponents.predictor import Context, action_class

OPPONENT_NET = "opponent_net"
POPULATION = "population_table"
"""Count in a net's manifest: class frequencies of the players it was trained on, in the twelve contexts."""
STAMP = {"feature_hash": opponent.HASH, "history_hash": opponent_history.HISTORY_HASH}

Floats = NDArray[np.float32]


def build(arguments: Mapping[str, Any]) -> OpponentNetModule:
    """The net that `describe` described."""
    if arguments["kind"] not in NETS:
        raise PokernetsError(f"there is no opponent net of kind '{arguments['kind']}'; there are {', '.join(NETS)}")
    return NETS[arguments["kind"]](**arguments["arguments"])


def describe(net: OpponentNetModule) -> dict[str, Any]:
    """What `build` needs, as JSON values."""
    return {"kind": net.kind, "arguments": net.config}


def load_opponent_net(path: str | Path) -> OpponentNetModule:
    """The exported net at `path`, in evaluation mode."""
    arguments, tensors = read_net(path, OPPONENT_NET, stamp=STAMP)
    net = build(arguments)
    net.load_state_dict(tensors)
    freeze(net)
    return net


def probabilities(net: OpponentNetModule, features: Floats, hand: Floats, past: Floats, player: Any) -> Floats:
    """[n, 3]; inputs a net does not need may have no columns."""
    columns = (features, hand, past, player, np.zeros(len(features), dtype=np.int64))
    with torch.inference_mode():
        batch = OpponentBatch(*(torch.from_numpy(np.ascontiguousarray(column)) for column in columns))
        probs: Floats = net(batch).softmax(dim=1).numpy()
    return probs


def as_base(net: OpponentNetModule) -> Any:
    """A net without memory as the base predictor of another."""

    def base(features: Floats, hand: Floats) -> Floats:
        nobody = np.full(len(features), UNKNOWN, dtype=np.int64)
        return probabilities(net, features, hand, np.zeros((len(features), 0), dtype=np.float32), nobody)

    return base


class OpponentNet:
    """A `poker.opponents.predictor.Predictor` by nets: `path` the net, `base` the one its player inputs rest on.

    Before the flop, where the nets were not trained, the population's table speaks. Learns from every observed action;
    what it needs of the hand it reads off the betting, so a hand may be entered anywhere.
    """

    def __init__(self, path: str | Path, base: str | Path | None = None) -> None:
        self._net = load_opponent_net(path)
        self._base = None if base is None else load_opponent_net(base)
        if "past" in self._net.needs and self._base is None:
            raise PokernetsError(f"{path} knows players by their past: give base, the net it was trained on")
        counts = open_artifact(path, OPPONENT_NET, config=STAMP).counts
        self._table = np.array(counts[POPULATION], dtype=np.float64)
        self._memory: dict[str, opponent_history.PlayerMemory] = {}

    def probs(self, context: Context) -> NDArray[np.float64]:
        """[3] probabilities."""
        if context.street == 0 or context.betting is None:
            return np.asarray(self._table[context.index])
        features, hand = self._inputs(context.betting, context.board)
        past = np.zeros((1, 0), dtype=np.float32)
        if self._base is not None:
            cells = self._cells(features, context, self._expected(features, hand))
            past = self._remembered(context.player).inputs(cells)[None]
        unknown = np.full(1, UNKNOWN, dtype=np.int64)
        probs = probabilities(self._net, features, hand, past, unknown)[0].astype(np.float64)
        return np.asarray(probs / probs.sum())

    def update(self, context: Context, action_class: int) -> None:
        """The player of `context` did `action_class`."""
        if self._base is None or context.betting is None:
            return
        expected = self._table[context.index].astype(np.float32)
        features = opponent.encode(context.betting, context.board)[None]
        if context.street:
            expected = self._expected(*self._inputs(context.betting, context.board))
        cells = self._cells(features, context, expected)
        self._remembered(context.player).observe(context.index, cells, expected, action_class)

    def forget(self) -> None:
        self._memory.clear()

    def _remembered(self, player: str) -> opponent_history.PlayerMemory:
        return self._memory.setdefault(player, opponent_history.PlayerMemory(self._table))

    def _expected(self, features: Floats, hand: Floats) -> Floats:
        assert self._base is not None
        row: Floats = as_base(self._base)(features, hand)[0]
        return row

    @staticmethod
    def _cells(features: Floats, context: Context, expected: Floats) -> NDArray[np.int64]:
        index = np.array([context.index], dtype=np.int64)
        return np.asarray(opponent_history.cells(features, index, expected[None])[0])

    def _inputs(self, betting: Betting, board: tuple[int, ...]) -> tuple[Floats, Floats]:
        features = opponent.encode(betting, board)[None]
        hand = np.zeros((1, opponent_history.HAND_SIZE), dtype=np.float32)
        if "hand" in self._net.needs or self._base is not None:
            _fill_hand(betting, board, hand[0])
        return features, hand


def _fill_hand(betting: Betting, board: tuple[int, ...], out: Floats) -> None:
    """Hand inputs of the player to act from the betting so far; seats stand for players."""
    seats, streets, actions, bets = [], [], [], []
    past = Betting.start(betting.rules)
    for street, (actors, done) in enumerate(zip(betting.actors, betting.actions, strict=True)):
        for actor, action in zip(actors, done, strict=True):
            if actor == past.to_act:
                seats.append(actor)
                streets.append(street)
                actions.append(action_class(action))
                bets.append(opponent.bets_to_call(past))
                past = past.leave(actor) if action < 0 else past.apply(action)
            else:
                past = past.leave(actor)
    columns = [
        np.array([*column, last], dtype=np.uint8)
        for column, last in ((seats, betting.to_act), (streets, betting.street), (actions, 0), (bets, 0))
    ]
    cards = np.array([*board, *[NO_CARD] * (MAX_BOARD - len(board))], dtype=np.uint8)
    seat, street_of, action_of, bets_of = columns
    hand_inputs(0, len(seats), seat.astype(np.int32), seat, street_of, action_of, bets_of, cards, out)
