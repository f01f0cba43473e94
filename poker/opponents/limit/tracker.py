"""Follows hands as one player, or an onlooker, sees them: weight tables of everybody still in, predictors that learn.

A weight table [1326] says what a player may hold ([POKI] section 5). A predictor says how often they fold, call or
raise in a spot; `poker.opponents.responses` turns that into the probability of the action given each hand. Thresholds
are on the scale of all hands, not of those still possible, which on real hands narrows tables too fast.

A player is known by name, or else by how many seats after one's own they sit: the same person until `forget`, whether
or not seats rotate from hand to hand. `follow` and `finish` work off a view; they leave out the tables of players who
have folded by then. `begin`, `observe` and `conclude` are the same step by step.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index
from poker.game.state import HandState
from poker.kernels.opponents import weights as kernel
from poker.kernels.types import Board, Singles
from poker.opponents.limit.preflop import IncomeRates
from poker.opponents.limit.strength import board_strength
from poker.opponents.model import Predictor, action_class, context_of
from poker.opponents.responses import likelihood

_PRIOR_NOISE, _PRIOR_ACTIONS = 0.2, 40.0
"""Noise of an unseen player, counted like so many actions. It lies between what mostly fits our own players best (0.05,
of 0.05 and 0.2) and what fits people best (0.3, of 0.15 and 0.3)."""


class Calibration:
    """Noise of each player, the share of actions that say nothing about the cards, from hands shown at showdowns."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, float]] = {}
        """Actions that shown hands explain: the expected number that did not depend on the cards, and all."""

    def noise(self, player: str) -> float:
        blind, number = self._seen.get(player, (0.0, 0.0))
        return (blind + _PRIOR_NOISE * _PRIOR_ACTIONS) / (number + _PRIOR_ACTIONS)

    def shown(self, player: str, informed: float, uninformed: float) -> None:
        """Count an action of probability `informed` given the hand shown, `uninformed` without looking: one step of
        expectation maximisation."""
        noise, (blind, number) = self.noise(player), self._seen.get(player, (0.0, 0.0))
        share = noise * uninformed
        total = share + (1 - noise) * informed
        self._seen[player] = blind + (share / total if total > 0 else 1.0), number + 1

    def forget(self) -> None:
        self._seen.clear()


class _Seen(NamedTuple):
    """An action and its probabilities: for each hand [1326] of a player who looks at the cards, and without looking."""

    player: int
    informed: Singles
    uninformed: float


class Tracker:
    """Follows hands; with `predictor` None nobody is modelled, and all hands stay equally likely.

    `habits`, which look at the twelve contexts alone, are a part of the predictor, or the predictor itself.
    `by_line`: the players of whom predictions after the flop are of the line that the hand took, and so of the range
    that took it.
    """

    def __init__(
        self,
        predictor: Predictor | None,
        rates: IncomeRates,
        habits: Predictor,
        *,
        by_line: Callable[[str], bool] = lambda player: False,
    ) -> None:
        self.predictor = predictor
        self.habits = habits
        self._by_line = by_line
        self.calibration = Calibration()
        self._rates = rates
        self._seat = 0
        self._past: Betting | None = None
        self._names: tuple[str, ...] = ()
        self._tables = _unknown(0)
        self._seen: list[_Seen] = []
        self._blocked = 0

    def forget(self) -> None:
        """Forget the players: new ones sit down."""
        if self.predictor is not None:
            self.predictor.forget()
        self.calibration.forget()
        self._past = None

    def start(self, seat: int) -> None:
        """Begin a hand for the player in `seat`; what is seen from it will be given to `follow`."""
        self._seat = seat
        self._past = None
        self._tables = _unknown(0)

    def follow(self, state: HandState) -> None:
        """Take in what happened since the last call, from the view of a hand in progress or over."""
        if self.predictor is None:
            return
        if self._past is None:
            self.begin(state.rules.num_players)
            self._past = Betting.start(state.rules)
        past = self._past
        done = sum(map(len, past.actions))
        for action in state.betting.line[done:]:
            board = state.runout[: past.rules.board_sizes[past.street]]
            self.observe(past, board, action, reweight=not state.betting.folded[past.to_act])
            past = past.apply(action)
        self._past = past

    def finish(self, state: HandState) -> None:
        """Learn from the last actions of a finished hand, and from the hands that others showed."""
        self.follow(state)
        if state.betting.is_showdown:
            hands = [() if player == self._seat else cards for player, cards in enumerate(state.hole_cards)]
            self.conclude(hands)

    def begin(self, players: int, names: Sequence[str] | None = None) -> None:
        """Begin a new hand, with all cards possible."""
        self._names = self.seat_names(players) if names is None else tuple(names)
        self._tables = _unknown(players)
        self._seen = []
        self._blocked = 0

    def seat_names(self, players: int) -> tuple[str, ...]:
        """[P] of players without names, by seat."""
        return tuple(f"seat +{(seat - self._seat) % players}" for seat in range(players))

    def observe(self, past: Betting, board: Board, action: int, *, reweight: bool) -> None:
        """Take in `action` of the player to act in `past`."""
        if self.predictor is None:
            return
        if len(board) > self._blocked:
            self._blocked = len(board)
            self._tables[~np.array(past.folded)] *= HOLDEM.live(board)
        player, observed = past.to_act, action_class(action)
        name = self._names[player]
        context = context_of(past, board, name)
        if reweight:
            probs = self.predictor.probs(context)
            quantile = self.quantile(past, board)
            table = self._tables[player] if self._by_line(name) else None
            informed = likelihood(context.street, context.bets_to_call, quantile, probs, observed, table)
            uninformed = float(probs[observed])
            noise = self.calibration.noise(name)
            kernel.reweight(self._tables[player], informed, noise, noise * uninformed)
            self._seen.append(_Seen(player, informed, uninformed))
        self.predictor.update(context, observed)

    def conclude(self, hands: Sequence[tuple[int, ...]]) -> None:
        """Learn from hands [P] that were shown, empty where not, how much each action said about the cards."""
        for seen in self._seen:
            if hands[seen.player]:
                informed = float(seen.informed[hand_index(*hands[seen.player])])
                self.calibration.shown(self._names[seen.player], informed, seen.uninformed)

    def tables(self, players: list[int]) -> Singles:
        """[n, 1326] weights of these players, proportional to probabilities; 1 where nothing is known."""
        if self.predictor is None or not len(self._tables):
            return _unknown(len(players))
        return self._tables[players]

    def quantile(self, betting: Betting, board: Board) -> Singles:
        """[1326] share of hands weaker against random hands of the players still in; negative for dead hands."""
        active = betting.folded.count(False)
        return board_strength(board).quantile(active - 1) if board else self._rates.quantile(active)


def _unknown(players: int) -> Singles:
    return np.ones((players, NUM_HANDS), dtype=np.float32)
