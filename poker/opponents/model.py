"""Models of opponents: how often they act in each way (`Predictor`), and with which hands (`OpponentModel`).

An action is one of three classes: fold, check or call, bet or raise. Predictors of people give folding some probability
even without a bet to call; whoever predicts one of our own players masks that. [POKI] section 6 tells twelve contexts
apart: four streets, and 0, 1 or 2 and more bets to call.
"""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.kernels.types import Board, Floats, Reals
from poker.opponents.inputs.limit import NUM_BET_LEVELS, bets_to_call
from poker.opponents.inputs.no_limit import SpotKey, size_class, spot_of

FOLD_CLASS, CALL_CLASS, RAISE_CLASS = range(3)
CLASS_NAMES = ("fold", "check/call", "bet/raise")
NUM_CLASSES = len(CLASS_NAMES)

NUM_STREETS = 4
NUM_CONTEXTS = NUM_STREETS * NUM_BET_LEVELS


@dataclass(frozen=True, slots=True)
class Context:
    """A decision to predict: who acts, and where.

    `player` is a name that lasts from hand to hand. `betting` (before the action) and `boards` are there when a hand is
    being played or replayed, several boards where a search asks about cards to come. Predictors that look only at the
    twelve contexts do without, those of no-limit at `spot`.
    """

    player: str
    street: int
    bets_to_call: int
    betting: Betting | None = None
    boards: tuple[Board, ...] = ((),)
    spot: SpotKey = (0, 0, 0, 0, 0)

    @property
    def index(self) -> int:
        """0..11: street * 3 + bets to call."""
        return self.street * NUM_BET_LEVELS + self.bets_to_call


@runtime_checkable
class Predictor(Protocol):
    """Predicts everybody at a table, and learns from every action that is observed; both take well under a millisecond.

    An `OpponentModel` does not do for this: it is of one player, has to say what every hand does, and stays as it is
    until the hand is over. What it knows of frequencies it may have from a predictor (`Prior`).
    """

    def probs(self, context: Context) -> Floats:
        """[C] probabilities of fold, check/call and bet/raise, the last by size class if C > 3; every one above 0,
        their sum 1. [B, C] where the context has B > 1 boards and the predictor looks at them."""

    def update(self, context: Context, action_class: int) -> None:
        """Learn that the player of `context` took an action of `action_class`."""

    def forget(self) -> None:
        """Return to what was known before the first `update`."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Frequencies of one player by a `predictor`, given what was seen of them; never changed in place.

    `weights` [W] are shares of players in whom it counts like each of `poker.opponents.inputs.frequencies.WEIGHTS`;
    `fingerprint` is equal for equal priors that have seen the same.
    """

    predictor: Predictor
    weights: Floats
    fingerprint: bytes

    def frequencies(self, betting: Betting, boards: Sequence[Board]) -> Floats:
        """[B, C] of the player to act, as of a `Predictor`, on each of B boards."""
        probs = self.predictor.probs(replace(context_of(betting, (), ""), boards=tuple(boards)))
        return np.broadcast_to(probs, (len(boards), probs.shape[-1]))

    def after(self, decisions: Sequence[tuple[Betting, Board, int]]) -> "Prior":
        """Prior after decisions of the player: betting before, board, action."""
        predictor, seen = copy.deepcopy(self.predictor), hashlib.sha256(self.fingerprint)
        for betting, board, action in decisions:
            predictor.update(context_of(betting, board, ""), sized_class(betting, action))
            seen.update(repr((betting.text(), board, action)).encode())
        return Prior(predictor, self.weights, seen.digest())


@runtime_checkable
class OpponentModel(Protocol):
    """Strategy of one opponent as a function of the public state, which treats suits alike. A model never changes:
    `after` a hand there is a new one. Equal models have equal hashes and give equal answers."""

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        """[B, H, A] probabilities of `actions` for every hand of the player to act on each of B boards, and the
        confidence in them, from 0 (no more than a guess) to 1. `weights` [B, H], up to a factor, are the ranges of an
        opponent who plays by the model."""

    def later(self, rules: Rules, street: int) -> tuple[Reals, float]:
        """[n, 2, 3] frequencies of fold, call and raise on each street after `street`, without a bet to call and with
        one, and the confidence in them."""

    def after(self, hand: HandState, player: int) -> Self:
        """Model after a finished hand in which the opponent was `player`, as it was seen."""

    def __hash__(self) -> int: ...


def action_class(action: int) -> int:
    """Class of an action: FOLD, CALL or a raise-to total."""
    if action == FOLD:
        return FOLD_CLASS
    return CALL_CLASS if action == CALL else RAISE_CLASS


def sized_class(betting: Betting, action: int) -> int:
    """Class of an action; that of a no-limit raise is RAISE_CLASS plus its size class."""
    kind = action_class(action)
    return kind + size_class(betting, action) if action > 0 and not betting.rules.is_limit else kind


def context_of(betting: Betting, board: Board, player: str) -> Context:
    """The context of the player to act."""
    context = Context(player, betting.street, bets_to_call(betting), betting, (board,))
    return context if betting.rules.is_limit else replace(context, spot=spot_of(betting))


def by_frequencies(actions: tuple[int, ...], folds: Reals, raises: Reals) -> Reals:
    """[A, ...] probabilities of hands that fold to bets with probability `folds` [...], raise with `raises` of the
    rest, all sizes alike, and otherwise check or call."""
    sizes = np.array(actions) > 0
    stays = 1 - folds if FOLD in actions else np.ones_like(folds)
    out = np.zeros((len(actions), *folds.shape))
    out[sizes] = stays * raises / max(1, sizes.sum())
    out[actions.index(CALL)] = stays - out.sum(axis=0)
    if FOLD in actions:
        out[actions.index(FOLD)] = folds
    return out
