"""Models of opponents: how often they act in each way (`Predictor`), and with which hands (`OpponentModel`).

An action is one of three classes: fold, check or call, bet or raise. Predictors of people give folding some probability
even without a bet to call; whoever predicts one of our own players masks that. [POKI] section 6 tells twelve contexts
apart: four streets, and 0, 1 or 2 and more bets to call. Predictors follow everybody at a table and learn action by
action; a model is of one player, has probabilities for every hand and a confidence, and is replaced after a hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from poker.betting import Betting
from poker.features.nolimit import Spot, size_class, spot_of
from poker.features.opponent import NUM_BET_LEVELS, bets_to_call
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from poker.types import Board, Floats, Reals, Singles

FOLD_CLASS, CALL_CLASS, RAISE_CLASS = range(3)
CLASS_NAMES = ("fold", "check/call", "bet/raise")
NUM_CLASSES = len(CLASS_NAMES)

NUM_STREETS = 4
NUM_CONTEXTS = NUM_STREETS * NUM_BET_LEVELS


@dataclass(frozen=True, slots=True)
class Context:
    """A decision to predict: who acts, and where.

    `player` is a name that lasts from hand to hand. `betting` (before the action) and `board` are there when a hand is
    being played or replayed; predictors that look only at the twelve contexts do without, those of no-limit at `spot`.
    """

    player: str
    street: int
    bets_to_call: int
    betting: Betting | None = None
    board: Board = ()
    spot: Spot = (0, 0, 0, 0, 0)

    @property
    def index(self) -> int:
        """0..11: street * 3 + bets to call."""
        return self.street * NUM_BET_LEVELS + self.bets_to_call


@runtime_checkable
class Predictor(Protocol):
    """Predicts, and learns from every action that is observed; both take well under a millisecond."""

    def probs(self, context: Context) -> Floats:
        """[C] probabilities of fold, check/call and bet/raise, the last by size class if C > 3; every one above 0,
        their sum 1."""

    def update(self, context: Context, action_class: int) -> None:
        """Learn that the player of `context` took an action of `action_class`."""

    def forget(self) -> None:
        """Return to what was known before the first `update`."""


class Prior(Protocol):
    """Frequencies of players like one whose past is known so far, such as a net's; never changed in place."""

    weights: Floats
    """[W] shares of players in whom the prior counts like each of `poker.features.frequencies.WEIGHTS`."""
    fingerprint: bytes
    """Equal for equal priors that have seen the same."""

    def frequencies(self, betting: Betting, boards: Sequence[Board]) -> Floats:
        """[B, C] of the player to act, as of a `Predictor`, on each of B boards."""

    def after(self, decisions: Sequence[tuple[Betting, Board, int]]) -> Self:
        """Prior after decisions of the player: betting before, board, action."""


class GivenHand(Protocol):
    """Says what players of a population do with each hand, such as a net that reads the cards held."""

    fingerprint: bytes
    """Equal for equal ones."""

    def probs(self, betting: Betting, boards: Sequence[Board], held: Singles) -> Reals:
        """[B, n, C] of the player to act, as of a `Predictor`, with n hands on each of B boards, by the inputs `held`
        [B, n, 10] of `poker.features.held`."""


@runtime_checkable
class OpponentModel(Protocol):
    """Strategy of an opponent as a function of the public state; it treats suits alike. Equal models have equal hashes
    and give equal answers."""

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        """[B, H, A] probabilities of `actions` for every hand of the player to act on each of B boards, and the
        confidence in them, from 0 (no more than a guess) to 1. `weights` [B, H], up to a factor, are the ranges of an
        opponent who plays by the model."""

    def later(self, rules: Rules, street: int) -> tuple[Reals, float]:
        """[n, 2, 3] frequencies of fold, call and raise on each street after `street`, without a bet to call and with
        one, and the confidence in them."""


@runtime_checkable
class LearningModel(OpponentModel, Protocol):
    """A model that is learned from hands."""

    def after(self, hand: HandState, player: int) -> Self:
        """Model after a finished hand in which the opponent was `player`, as it was seen."""


def action_class(action: int) -> int:
    """Class of an action: FOLD, CALL or a raise-to total."""
    if action == FOLD:
        return FOLD_CLASS
    return CALL_CLASS if action == CALL else RAISE_CLASS


def sized_class(betting: Betting, action: int) -> int:
    """Class of an action; in no-limit raises are RAISE_CLASS and their size class more."""
    found = action_class(action)
    return found + size_class(betting, action) if action > 0 and not betting.rules.is_limit else found


def context_of(betting: Betting, board: Board, player: str) -> Context:
    """The context of the player to act."""
    found = Context(player, betting.street, bets_to_call(betting), betting, board)
    return found if betting.rules.is_limit else replace(found, spot=spot_of(betting))


@dataclass(frozen=True)
class FixedFrequencies:
    """A model that plays all hands alike: folds to a bet, else raises, all sizes alike, else checks or calls."""

    folds: float
    raises: float
    confidence: float = 1.0

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        hands = np.ones(np.shape(weights))
        return np.moveaxis(by_frequencies(actions, self.folds * hands, self.raises * hands), 0, -1), self.confidence

    def later(self, rules: Rules, street: int) -> tuple[Reals, float]:
        stays = 1 - self.folds
        asked = self.folds, stays * (1 - self.raises), stays * self.raises
        rows = np.array([(0.0, 1 - self.raises, self.raises), asked])
        return np.tile(rows, (rules.num_streets - street - 1, 1, 1)), self.confidence


def by_frequencies(actions: tuple[int, ...], folds: Reals, raises: Reals) -> Reals:
    """[A, ...] of hands that fold to bets with probability `folds` [...], raise with `raises` of the rest, all sizes
    alike, and otherwise check or call."""
    sizes = np.array(actions) > 0
    stays = 1 - folds if FOLD in actions else np.ones_like(folds)
    out = np.zeros((len(actions), *folds.shape))
    out[sizes] = stays * raises / max(1, sizes.sum())
    out[actions.index(CALL)] = stays - out.sum(axis=0)
    if FOLD in actions:
        out[actions.index(FOLD)] = folds
    return out
