"""Models of opponents: how often they act in each way (`Predictor`), and with which hands (`OpponentModel`).

An action is one of three classes: fold, check or call, bet or raise. Predictors of people give folding some probability
even without a bet to call. Code that predicts one of our own players masks it. [POKI] section 6 distinguishes twelve
contexts: four streets, and 0, 1 or 2 and more bets to call.

Symbols: B boards, H hands, A actions, C size classes and other classes of actions, W weights of a prior.
"""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np

from poker.game.betting import Betting
from poker.game.rules import Rules, action_class
from poker.game.state import HandState
from poker.kernels.types import Board, Floats, Reals
from poker.opponents.inputs.limit import NUM_BET_LEVELS, bets_to_call
from poker.opponents.inputs.no_limit import SpotKey, size_class, spot_of

CLASS_NAMES = ("fold", "check/call", "bet/raise")
NUM_CLASSES = len(CLASS_NAMES)

NUM_STREETS = 4
NUM_CONTEXTS = NUM_STREETS * NUM_BET_LEVELS


@dataclass(frozen=True, slots=True)
class Context:
    """A decision to predict: who acts, and where.

    Predictors that use only the twelve contexts need neither `betting` nor `boards`. No-limit predictors of that kind
    use `spot`.

    Attributes:
        player: name of the player, the same from hand to hand.
        street: 0 before the flop to 3.
        bets_to_call: 0, 1 or 2; 2 stands for two and more.
        betting: betting before the action, if a hand is played or replayed.
        boards: boards to predict on; several if a search queries cards to come.
        spot: no-limit spot of the decision.
    """

    player: str
    street: int
    bets_to_call: int
    betting: Betting | None = None
    boards: tuple[Board, ...] = ((),)
    spot: SpotKey = (0, 0, 0, 0, 0)

    @property
    def index(self) -> int:
        """Index of the context from 0 to 11: street * 3 + bets to call."""
        return self.street * NUM_BET_LEVELS + self.bets_to_call


@runtime_checkable
class Predictor(Protocol):
    """A predictor of everybody at a table that learns from every observed action.

    Both prediction and update take well under a millisecond. An `OpponentModel` is a different concept: it describes
    one opponent, gives the actions of every hand, and does not change during a hand. It may take its frequencies from a
    predictor (`Prior`).
    """

    def probs(self, context: Context) -> Floats:
        """Return the probabilities of each class of action.

        Args:
            context: the decision.

        Returns:
            [C] probabilities of fold, check or call, and bet or raise. If C > 3, raises are divided by size class. All
            are positive, and their sum is 1. The shape is [B, C] if the context has B > 1 boards and the predictor uses
            boards.
        """

    def update(self, context: Context, action_class: int) -> None:
        """Learn from an action.

        Args:
            context: the decision.
            action_class: class of the action that the player of `context` took.
        """

    def forget(self) -> None:
        """Return to the state before the first `update`."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Frequencies of one player by a predictor, given the player's observed actions; never changed in place.

    Attributes:
        predictor: source of the frequencies.
        weights: [W] share of players for whom the predictor counts like each of
            `poker.opponents.inputs.frequencies.WEIGHTS`.
        fingerprint: equal for equal priors with equal observations.
    """

    predictor: Predictor
    weights: Floats
    fingerprint: bytes

    def frequencies(self, betting: Betting, boards: Sequence[Board]) -> Floats:
        """Return the frequencies of the player to act.

        Args:
            boards: B boards.

        Returns:
            [B, C] frequencies, as of a `Predictor`.
        """
        probs = self.predictor.probs(replace(context_of(betting, (), ""), boards=tuple(boards)))
        return np.broadcast_to(probs, (len(boards), probs.shape[-1]))

    def after(self, decisions: Sequence[tuple[Betting, Board, int]]) -> "Prior":
        """Return the prior after decisions of the player.

        Args:
            decisions: betting before the action, board [0..5] and action of each decision.
        """
        predictor, seen = copy.deepcopy(self.predictor), hashlib.sha256(self.fingerprint)
        for betting, board, action in decisions:
            predictor.update(context_of(betting, board, ""), sized_class(betting, action))
            seen.update(repr((betting.text(), board, action)).encode())
        return Prior(predictor, self.weights, seen.digest())


@runtime_checkable
class OpponentModel(Protocol):
    """Strategy of one opponent as a function of the public state, the same for boards equal up to suits.

    A model never changes: `after` a hand it returns a new one. Equal models have equal hashes and give equal results.
    """

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        """Return the probabilities of actions for every hand, and the confidence in them.

        Args:
            boards: B boards.
            actions: A actions.
            weights: [B, H] range of the player to act, up to a factor, if the opponent plays by this model.

        Returns:
            [B, H, A] probabilities for the player to act, and the confidence from 0 (a guess) to 1.
        """

    def later(self, rules: Rules, street: int) -> tuple[Reals, float]:
        """Return frequencies on the streets to come, and the confidence in them.

        Args:
            street: the current street.

        Returns:
            [n, 2, 3] frequencies of fold, call and raise on each street after `street`, without and with a bet to call,
            and the confidence from 0 to 1.
        """

    def after(self, hand: HandState, player: int) -> Self:
        """Return the model after a finished hand.

        Args:
            hand: the hand, as the modelling player saw it.
            player: seat of the opponent.
        """

    def __hash__(self) -> int:
        """Return a hash that is equal for equal models."""


def sized_class(betting: Betting, action: int) -> int:
    """Return the class of an action; a no-limit raise has RAISE_CLASS plus its size class.

    Args:
        betting: betting before the action.
        action: FOLD, CALL or a raise-to total.
    """
    kind = action_class(action)
    return kind + size_class(betting, action) if action > 0 and not betting.rules.is_limit else kind


def context_of(betting: Betting, board: Board, player: str) -> Context:
    """Return the context of the player to act.

    Args:
        board: [0..5] cards on the board.
        player: name of the player.
    """
    context = Context(player, betting.street, bets_to_call(betting), betting, (board,))
    return context if betting.rules.is_limit else replace(context, spot=spot_of(betting))
