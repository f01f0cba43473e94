"""Trained opponent nets, and a `Predictor` for one decision at a time.

Torch, which takes seconds to import, is imported when a net is loaded.
"""

from collections.abc import Collection, Sequence
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.opponent.inputs import Inputs
from poker.game.betting import Betting
from poker.game.cards import NO_CARD
from poker.game.rules import LIMIT, NOLIMIT
from poker.kernels.opponents.history import Actions, hand_inputs
from poker.kernels.types import Board, Singles
from poker.opponents.inputs import history, limit
from poker.opponents.inputs.rows import MAX_BOARD
from poker.opponents.model import NUM_CLASSES, NUM_CONTEXTS, RAISE_CLASS, Context, Prior, sized_class
from poker.run.errors import PokernetsError
from poker.store.artifacts import MismatchedArtifactError, open_artifact, refuses_by_name

if TYPE_CHECKING:
    from models.opponent.nets import ActionNet

OPPONENT_NET = "opponent_net"
POPULATION = "population_table"
"""Count in a net's manifest: class frequencies of the players it was trained on, in the twelve contexts."""
PLAYERS = "players"
"""Count in a net's manifest: the names of the players it was trained on."""
BETTING = "betting"
"""Count in a net's manifest: `limit` or `nolimit`, whose actions it predicts."""
SHARES = "shares_of_weights"
"""Count in the manifest of a net that knows players by their past: shares of players by what the net weighs beside
their counts (`poker.opponents.inputs.frequencies`)."""
_REMEMBERED = 2000
"""Decisions that are not encoded again, 14 KB each where they are asked for on 48 boards."""
STAMP = {"feature_hash": limit.HASH, "history_hash": history.HISTORY_HASH}


def load_opponent_net(path: str | Path, architectures: Collection[str] = ()) -> "ActionNet":
    """The exported net at `path`, in evaluation mode; `architectures` as for `load_net`."""
    from models.opponent.nets import ActionNet  # noqa: PLC0415 (torch)
    from models.training.export import load_net  # noqa: PLC0415 (torch)

    net = load_net(path, OPPONENT_NET, stamp=STAMP, architectures=architectures)
    if not isinstance(net, ActionNet):
        raise MismatchedArtifactError(f"{path} holds a {type(net).__name__}, which predicts no actions")
    return net


@refuses_by_name(OPPONENT_NET)
def _population(path: str | Path) -> NDArray[np.float64]:
    """The population's table [12, 3] of the net at `path`."""
    counts = open_artifact(path, OPPONENT_NET, config=STAMP).counts
    return np.array(counts[POPULATION], dtype=np.float64).reshape(NUM_CONTEXTS, NUM_CLASSES)


class OpponentNet:
    """A `poker.opponents.model.Predictor` by the net at `path`: `base` is the one that its player inputs rest on,
    `architectures` the classes outside `models` that these may have.

    Before the flop the population's table predicts in limit, where the net was not trained on it. Learns from every
    observed action; the hand so far is read off the betting, so observation may begin anywhere in a hand.
    """

    def __init__(self, path: str | Path, base: str | Path | None = None, architectures: Collection[str] = ()) -> None:
        self._net = load_opponent_net(path, architectures)
        self._base = None if base is None else load_opponent_net(base, architectures)
        if self._base is None and "past" in self._net.needs:
            raise PokernetsError(f"{path} knows players by their past: give base, the net it was trained on")
        self._table = _population(path)
        self._betting = str(open_artifact(path, OPPONENT_NET, config=STAMP).counts.get(BETTING, LIMIT))
        self._memory: dict[str, history.PlayerMemory] = {}
        self._seen = lru_cache(_REMEMBERED)(self._encoded)

    def probs(self, context: Context) -> NDArray[np.float64]:
        if context.betting is None or not self._covers(context):
            return np.asarray(self._table[context.index])
        inputs, expected = self._seen(context)
        if self._base is not None:
            memory, cells = self._remembered(context.player), self._cells(inputs, context, expected)
            inputs = inputs._replace(past=np.stack([memory.inputs(row) for row in cells]))
        probs = self._net.probs(inputs).astype(np.float64)
        probs /= probs.sum(axis=1, keepdims=True)
        return probs if len(probs) > 1 else np.asarray(probs[0])

    def update(self, context: Context, action_class: int) -> None:
        if self._base is None or context.betting is None:
            return
        inputs, expected = self._seen(context)
        (cells,) = self._cells(inputs, context, expected)
        self._remembered(context.player).observe(context.index, cells, expected[0], min(action_class, RAISE_CLASS))

    def forget(self) -> None:
        self._memory.clear()

    def __deepcopy__(self, memo: dict[int, Any]) -> "OpponentNet":
        """Another with the same nets, and a memory of its own."""
        other = copy(self)
        other._memory = {player: memory.copy() for player, memory in self._memory.items()}
        return other

    def _covers(self, context: Context) -> bool:
        """Whether the nets were trained on rounds like this."""
        return context.street > 0 or self._betting != LIMIT

    def _remembered(self, player: str) -> history.PlayerMemory:
        return self._memory.setdefault(player, history.PlayerMemory(self._table))

    def _encoded(self, context: Context) -> tuple[Inputs, Singles]:
        """Inputs [B, ...] on the boards of `context`, without the past, and the base probabilities [B, 3]: the same
        whatever was learned, so that copies share what is cached."""
        betting = context.betting
        assert betting is not None
        if betting.rules.betting != self._betting:
            raise PokernetsError(f"the opponent net is for {self._betting} games; `{betting.rules.name}` is another")
        inputs = _inputs(betting, context.boards)
        expected = np.tile(self._table[context.index].astype(np.float32), (len(context.boards), 1))
        if self._base is not None and self._covers(context):
            expected = history.by_class(self._base.probs(inputs))
        return inputs, expected

    @staticmethod
    def _cells(inputs: Inputs, context: Context, expected: Singles) -> NDArray[np.int64]:
        index = np.full(len(expected), context.index, dtype=np.int64)
        return history.cells(inputs.features, index, expected)


class NetPrior(Prior):
    """A prior for no-limit: the net at `path`, which knows players by their past, on `base`.

    What it weighs beside a player's counts was learned with the net.
    """

    def __init__(self, path: str | Path, base: str | Path, architectures: Collection[str] = ()) -> None:
        artifact = open_artifact(path, OPPONENT_NET, config=STAMP)
        if artifact.counts.get(BETTING) != NOLIMIT:
            raise PokernetsError(f"the prior {path} is a net for limit games: train one on no-limit hands")
        weights = np.array(artifact.counts[SHARES], dtype=np.float64)
        super().__init__(OpponentNet(path, base, architectures), weights, artifact.fingerprint.encode())


def _inputs(betting: Betting, boards: Sequence[Board]) -> Inputs:
    """Inputs [B, ...] of the player to act on each board, without the past; seats stand for players."""
    rows = [
        (actor, past.street, sized_class(past, action), limit.bets_to_call(past))
        for past, actor, action in betting.turns()
        if actor == past.to_act
    ]
    columns = np.array([*rows, (betting.to_act, betting.street, 0, 0)], dtype=np.uint8).T.copy()
    actions = Actions(columns[0].astype(np.int32), *columns)
    hand = np.zeros((len(boards), history.HAND_SIZE), dtype=np.float32)
    for row, board in enumerate(boards):
        cards = np.array([*board, *[NO_CARD] * (MAX_BOARD - len(board))], dtype=np.uint8)
        hand_inputs(0, len(rows), actions, cards, hand[row])
    return Inputs(limit.encode_on(betting, boards), hand, np.zeros((len(boards), 0), dtype=np.float32))
