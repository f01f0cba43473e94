"""Follows a hand as one player sees it: weight tables of everybody still in, and predictors that learn as it goes.

Seats keep their players until `forget`, as in a session of a match, so a player's name is his seat. Actions are worked
off when they are asked for: tables of players who have folded by then are not updated any more, predictors always are.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from poker.betting import Betting
from poker.cards import NUM_HANDS, hand_index
from poker.opponents.predictor import Predictor, action_class, context_of
from poker.opponents.preflop import IncomeRates
from poker.opponents.strength import board_strength
from poker.opponents.weights import Calibration, WeightTable
from poker.state import HandState

Ranking = tuple[NDArray[np.float32], NDArray[np.int16]]


@dataclass(frozen=True)
class _Seen:
    """An action and its probabilities: for each hand [1326] of a player who looks at his cards, and without looking."""

    player: int
    informed: NDArray[np.float32]
    uninformed: float


class Tracker:
    """`predictor` None: nobody is modelled, all hands stay equally likely.

    `habits` learns too, or is the predictor itself; it looks at the twelve contexts alone.
    """

    def __init__(self, predictor: Predictor | None, rates: IncomeRates, habits: Predictor) -> None:
        self.predictor = predictor
        self.habits = habits
        self.calibration = Calibration()
        self._rates = rates
        self._seat = 0
        self._past: Betting | None = None
        self._tables: list[WeightTable] = []
        self._seen: list[_Seen] = []
        self._blocked = 0

    def forget(self) -> None:
        """New players sit down."""
        self.habits.forget()
        if self.predictor is not None:
            self.predictor.forget()
        self.calibration.forget()
        self._past = None

    def start(self, seat: int) -> None:
        """A hand begins for the player in `seat`."""
        self._seat = seat
        self._past = None

    def follow(self, state: HandState) -> None:
        """Take in what happened since the last call, from the view of a hand in progress or over."""
        if self.predictor is None:
            return
        past = self._past
        if past is None:
            past = Betting.start(state.rules)
            self._tables = [WeightTable() for _ in range(state.rules.num_players)]
            self._seen = []
            self._blocked = 0
        done = sum(map(len, past.actions))
        actions = list(chain.from_iterable(state.betting.actions))
        for action in actions[done:]:
            self._observe(self.predictor, past, action, state)
            past = past.apply(action)
        self._past = past

    def finish(self, state: HandState) -> None:
        """The hand is over: learn from its last actions, and from the hands that others showed."""
        self.follow(state)
        if not state.betting.is_showdown or self.predictor is None:
            return
        for seen in self._seen:
            cards = state.hole_cards[seen.player]
            if cards and seen.player != self._seat:
                shown = float(seen.informed[hand_index(*cards)])
                self.calibration.shown(seat_name(seen.player), shown, seen.uninformed)

    def tables(self, players: list[int]) -> NDArray[np.float32]:
        """[n, 1326] weights of these players; 1 where nothing is known."""
        if not self._tables or self.predictor is None or self._past is None:
            return np.ones((len(players), NUM_HANDS), dtype=np.float32)
        return np.stack([self._tables[player].weights for player in players])

    def _observe(self, predictor: Predictor, past: Betting, action: int, state: HandState) -> None:
        player = past.to_act
        name = seat_name(player)
        board = state.runout[: past.rules.board_sizes[past.street]]
        if len(board) > self._blocked:
            self._blocked = len(board)
            for table in self._tables:
                table.block(board)
        context = context_of(past, board, name)
        observed = action_class(action)
        if not state.betting.folded[player]:
            probs = predictor.probs(context)
            strength, order = self.ranking(past, board)
            informed = self._tables[player].observe(strength, order, probs, observed, self.calibration.noise(name))
            self._seen.append(_Seen(player, informed, float(probs[observed])))
        predictor.update(context, observed)
        if self.habits is not predictor:
            self.habits.update(context, observed)

    def ranking(self, betting: Betting, board: tuple[int, ...]) -> Ranking:
        """Strength [1326] of all hands against random hands of the players still in, and the possible hands by it."""
        active = betting.folded.count(False)
        if not board:
            return self._rates.ranking(active)
        return board_strength(board).ranking(active - 1)


def seat_name(seat: int) -> str:
    return f"seat {seat}"
