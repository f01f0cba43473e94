"""Predicting the next action of an opponent in limit hold'em: the protocol, and what a prediction is made from.

An action is one of three classes: fold, check or call, bet or raise. Predictors of people give folding some probability
even without a bet to call; whoever predicts one of our own players masks that. [POKI] section 6 tells twelve contexts
apart: four streets, and 0, 1 or 2 and more bets to call.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from poker.betting import Betting
from poker.features.opponent import NUM_BET_LEVELS, bets_to_call
from poker.rules import CALL, FOLD
from poker.types import Board, Floats

FOLD_CLASS, CALL_CLASS, RAISE_CLASS = range(3)
CLASS_NAMES = ("fold", "check/call", "bet/raise")
NUM_CLASSES = len(CLASS_NAMES)

NUM_STREETS = 4
NUM_CONTEXTS = NUM_STREETS * NUM_BET_LEVELS


@dataclass(frozen=True, slots=True)
class Context:
    """A decision to predict: who acts, and where.

    `player` is a name that lasts from hand to hand. `betting` (before the action) and `board` are there when a hand is
    being played or replayed; predictors that look only at the twelve contexts do without.
    """

    player: str
    street: int
    bets_to_call: int
    betting: Betting | None = None
    board: Board = ()

    @property
    def index(self) -> int:
        """0..11: street * 3 + bets to call."""
        return self.street * NUM_BET_LEVELS + self.bets_to_call


@runtime_checkable
class Predictor(Protocol):
    """Predicts, and learns from every action that is observed; both take well under a millisecond."""

    def probs(self, context: Context) -> Floats:
        """[3] probabilities of fold, check/call and bet/raise; every one above 0, their sum 1."""

    def update(self, context: Context, action_class: int) -> None:
        """Learn that the player of `context` took an action of `action_class`."""

    def forget(self) -> None:
        """Return to what was known before the first `update`."""


def action_class(action: int) -> int:
    """Class of an action: FOLD, CALL or a raise-to total."""
    if action == FOLD:
        return FOLD_CLASS
    return CALL_CLASS if action == CALL else RAISE_CLASS


def context_of(betting: Betting, board: Board, player: str) -> Context:
    """The context of the player to act."""
    return Context(player, betting.street, bets_to_call(betting), betting, board)
