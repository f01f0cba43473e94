"""Trained opponent nets, and a `Predictor` for one decision at a time.

Torch takes seconds to import, so it is imported when a net is loaded.
"""

from collections.abc import Collection, Sequence
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.opponent.inputs import Inputs
from poker.game.betting import Betting
from poker.game.cards import NO_CARD
from poker.game.rules import LIMIT, NOLIMIT, RAISE_CLASS
from poker.kernels.opponents.history import Actions, hand_inputs
from poker.kernels.types import I64, Board, Floats, Singles
from poker.opponents.inputs import history, limit
from poker.opponents.inputs.rows import MAX_BOARD
from poker.opponents.model import NUM_CLASSES, NUM_CONTEXTS, Context, Prior, sized_class
from poker.run.errors import PokernetsError
from poker.store.artifacts import MismatchedArtifactError, open_artifact, refuses_by_name

if TYPE_CHECKING:
    from models.opponent.nets import ActionNet

OPPONENT_NET = "opponent_net"
POPULATION = "population_table"
"""Manifest key: class frequencies in the twelve contexts, over the players that the net was trained on."""
PLAYERS = "players"
"""Manifest key: names of the players that the net was trained on."""
BETTING = "betting"
"""Manifest key: `limit` or `nolimit`, the betting that the net predicts."""
SHARES = "shares_of_weights"
"""Manifest key of a net that uses a player's past: share of the players for whom each weight of the net against their
counts fits best (`poker.opponents.inputs.frequencies`)."""
_CACHED_DECISIONS = 2000
"""Number of cached encoded decisions; each takes 14 KB with 48 boards."""
STAMP = {"feature_hash": limit.HASH, "history_hash": history.HISTORY_HASH}


def load_opponent_net(path: str | Path, architectures: Collection[str] = ()) -> "ActionNet":
    """Load an exported net in evaluation mode.

    Args:
        path: directory of the artifact.
        architectures: dotted names of classes outside `models` that it may have.

    Raises:
        ArtifactError: the artifact is missing or damaged, or is not a net that predicts actions.
    """
    from models.opponent.nets import ActionNet  # noqa: PLC0415 (torch)
    from models.training.export import load_net  # noqa: PLC0415 (torch)

    net = load_net(path, OPPONENT_NET, stamp=STAMP, architectures=architectures)
    if not isinstance(net, ActionNet):
        raise MismatchedArtifactError(f"{path} contains a {type(net).__name__}, which does not predict actions")
    return net


@refuses_by_name(OPPONENT_NET)
def _population(path: str | Path) -> Floats:
    """Return the population's table [12, 3] of the net at `path`."""
    counts = open_artifact(path, OPPONENT_NET, config=STAMP).counts
    return np.array(counts[POPULATION], dtype=np.float64).reshape(NUM_CONTEXTS, NUM_CLASSES)


class OpponentNet:
    """A `poker.opponents.model.Predictor` with a trained net.

    In limit games the net predicts decisions after the flop, and before the flop the population's table is used. The
    predictor learns from every observed action. It reads the hand so far from the betting, so observation may begin
    anywhere in a hand.
    """

    def __init__(self, path: str | Path, base: str | Path | None = None, architectures: Collection[str] = ()) -> None:
        """Load the net.

        Args:
            path: directory of the net.
            base: the net that its player inputs are based on, if it uses a player's past.
            architectures: dotted names of classes outside `models` that the nets may have.

        Raises:
            PokernetsError: the net uses a player's past, but there is no base.
            ArtifactError: an artifact is missing or damaged.
        """
        self._net = load_opponent_net(path, architectures)
        self._base = None if base is None else load_opponent_net(base, architectures)
        if self._base is None and "past" in self._net.needs:
            raise PokernetsError(f"{path} needs the net that it was trained with: set base=PATH")
        self._table = _population(path)
        self._betting = str(open_artifact(path, OPPONENT_NET, config=STAMP).counts.get(BETTING, LIMIT))
        self._memory: dict[str, history.PlayerMemory] = {}
        self._cached_inputs = lru_cache(_CACHED_DECISIONS)(self._encode)

    def probs(self, context: Context) -> Floats:
        """Predict the next action.

        Args:
            context: the decision.

        Returns:
            float64 [C] probabilities of the action classes, or [B, C] with several boards.

        Raises:
            PokernetsError: the net is for another kind of betting.
        """
        if context.betting is None or not self._covers(context):
            return np.asarray(self._table[context.index])
        inputs, expected = self._cached_inputs(context)
        if self._base is not None:
            memory, cells = self._memory_of(context.player), self._cells(inputs, context, expected)
            inputs = inputs._replace(past=np.stack([memory.inputs(row) for row in cells]))
        probs = self._net.probs(inputs).astype(np.float64)
        probs /= probs.sum(axis=1, keepdims=True)
        return probs if len(probs) > 1 else np.asarray(probs[0])

    def update(self, context: Context, action_class: int) -> None:
        """Learn from an observed action.

        Args:
            context: the decision.
            action_class: class of the action that was taken.
        """
        if self._base is None or context.betting is None:
            return
        inputs, expected = self._cached_inputs(context)
        (cells,) = self._cells(inputs, context, expected)
        self._memory_of(context.player).observe(context.index, cells, expected[0], min(action_class, RAISE_CLASS))

    def forget(self) -> None:
        """Forget everything about players."""
        self._memory.clear()

    def __deepcopy__(self, memo: dict[int, Any]) -> "OpponentNet":
        """Return a copy with the same nets and its own memory of players."""
        other = copy(self)
        other._memory = {player: memory.copy() for player, memory in self._memory.items()}
        return other

    def _covers(self, context: Context) -> bool:
        """Return whether the nets were trained on rounds like this."""
        return context.street > 0 or self._betting != LIMIT

    def _memory_of(self, player: str) -> history.PlayerMemory:
        return self._memory.setdefault(player, history.PlayerMemory(self._table))

    def _encode(self, context: Context) -> tuple[Inputs, Singles]:
        """Return inputs [B, ...] without the past and base probabilities [B, 3] on the boards of `context`.

        They do not depend on what was learned, so copies share the cache.
        """
        betting = context.betting
        assert betting is not None
        if betting.rules.betting != self._betting:
            raise PokernetsError(f"the opponent net is for {self._betting} games, not for `{betting.rules.name}`")
        inputs = _inputs(betting, context.boards)
        expected = np.tile(self._table[context.index].astype(np.float32), (len(context.boards), 1))
        if self._base is not None and self._covers(context):
            expected = history.by_class(self._base.probs(inputs))
        return inputs, expected

    @staticmethod
    def _cells(inputs: Inputs, context: Context, expected: Singles) -> I64:
        index = np.full(len(expected), context.index, dtype=np.int64)
        return history.cells(inputs.features, index, expected)


class NetPrior(Prior):
    """A prior for no-limit games: a net that uses a player's past.

    The weights of the prior against a player's counts were learned with the net.
    """

    def __init__(self, path: str | Path, base: str | Path, architectures: Collection[str] = ()) -> None:
        """Load the net.

        Args:
            path: directory of the net.
            base: the net that its player inputs are based on.
            architectures: dotted names of classes outside `models` that the nets may have.

        Raises:
            PokernetsError: the net is for limit games.
            ArtifactError: an artifact is missing or damaged.
        """
        artifact = open_artifact(path, OPPONENT_NET, config=STAMP)
        if artifact.counts.get(BETTING) != NOLIMIT:
            raise PokernetsError(f"the prior {path} is a net for limit games: train a net on no-limit hands")
        weights = np.array(artifact.counts[SHARES], dtype=np.float64)
        super().__init__(OpponentNet(path, base, architectures), weights, artifact.fingerprint.encode())


def _inputs(betting: Betting, boards: Sequence[Board]) -> Inputs:
    """Return the inputs [B, ...] of the player to act on each board, without the past; seats represent players."""
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
