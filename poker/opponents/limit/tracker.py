"""A tracker of hands as a player or an observer sees them, with weight tables of opponents and predictors that learn.

A weight table [1326] gives the probability of each hand of a player up to a factor ([POKI] section 5). A predictor
gives the probabilities of fold, call and raise in a spot. `poker.opponents.responses` turns them into the probability
of an action given each hand. Its thresholds are on the scale of all hands, not of the hands still possible; on real
hands the latter narrows tables too fast.

A player is identified by name, or else by the number of seats after one's own. Without names, a player stays the same
person until `forget`, whether or not seats rotate. `follow` and `finish` work from a view, and do not reweight the
tables of players who have folded by then. `begin`, `observe` and `conclude` do the same step by step.

Symbols: P players.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index
from poker.game.rules import action_class
from poker.game.state import HandState
from poker.kernels.opponents import weights as kernel
from poker.kernels.types import Board, Singles
from poker.opponents.limit.preflop import IncomeRates
from poker.opponents.limit.strength import board_strength
from poker.opponents.model import Predictor, context_of
from poker.opponents.responses import likelihood

_PRIOR_NOISE, _PRIOR_ACTIONS = 0.2, 40.0
"""Noise of an unseen player, and the number of actions that it counts like. The noise lies between the best fit to our
own players (0.05, of 0.05 and 0.2) and the best fit to people (0.3, of 0.15 and 0.3)."""


class Calibration:
    """The noise of each player: the share of actions that are independent of the cards, learned at showdowns."""

    def __init__(self) -> None:
        """Begin without shown hands."""
        self._seen: dict[str, tuple[float, float]] = {}
        """Actions with shown hands, by player: the expected number that did not depend on the cards, and all."""

    def noise(self, player: str) -> float:
        """Return the expected noise of a player.

        Args:
            player: name of the player.
        """
        blind, number = self._seen.get(player, (0.0, 0.0))
        return (blind + _PRIOR_NOISE * _PRIOR_ACTIONS) / (number + _PRIOR_ACTIONS)

    def shown(self, player: str, informed: float, uninformed: float) -> None:
        """Count an action of a player who showed the hand: one step of expectation maximisation.

        Args:
            player: name of the player.
            informed: probability of the action given the hand shown.
            uninformed: probability of the action without looking at the cards.
        """
        noise, (blind, number) = self.noise(player), self._seen.get(player, (0.0, 0.0))
        share = noise * uninformed
        total = share + (1 - noise) * informed
        self._seen[player] = blind + (share / total if total > 0 else 1.0), number + 1

    def forget(self) -> None:
        """Delete all statistics."""
        self._seen.clear()


class _Seen(NamedTuple):
    """An action and its probabilities, given each hand [1326] if the player looks at the cards, and without looking."""

    player: int
    informed: Singles
    uninformed: float


class Tracker:
    """A tracker of hands; without a predictor nobody is modelled, and all hands stay equally likely.

    Attributes:
        predictor: predictor of all players, or None.
        habits: frequencies by the twelve contexts alone; the predictor itself or a part of it.
        calibration: noise of each player.
    """

    def __init__(
        self,
        predictor: Predictor | None,
        rates: IncomeRates,
        habits: Predictor,
        *,
        by_line: Callable[[str], bool] = lambda player: False,
    ) -> None:
        """Create a tracker without a hand in progress.

        Args:
            predictor: predictor of all players; None to model nobody.
            rates: income rates before the flop.
            habits: frequencies by context; the predictor itself or a part of it.
            by_line: whether predictions after the flop use the line of the hand for the named player. They then
                describe the range that took the line, not a usual range.
        """
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
        """Forget the players, because new ones sit down."""
        if self.predictor is not None:
            self.predictor.forget()
        self.calibration.forget()
        self._past = None

    def start(self, seat: int) -> None:
        """Begin a hand that `follow` will report.

        Args:
            seat: seat of the player whose views `follow` receives.
        """
        self._seat = seat
        self._past = None
        self._tables = _unknown(0)

    def follow(self, state: HandState) -> None:
        """Process the actions since the last call.

        Args:
            state: view of the hand, in progress or over.
        """
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
        """Learn from the last actions of a finished hand, and from the hands that others showed.

        Args:
            state: view of the finished hand.
        """
        self.follow(state)
        if state.betting.is_showdown:
            hands = [() if player == self._seat else cards for player, cards in enumerate(state.hole_cards)]
            self.conclude(hands)

    def begin(self, players: int, names: Sequence[str] | None = None) -> None:
        """Begin a new hand, with all cards possible.

        Args:
            names: [P] names; None to identify players by seat.
        """
        self._names = self.seat_names(players) if names is None else tuple(names)
        self._tables = _unknown(players)
        self._seen = []
        self._blocked = 0

    def seat_names(self, players: int) -> tuple[str, ...]:
        """Return names for players without names, by distance from one's own seat."""
        return tuple(f"seat +{(seat - self._seat) % players}" for seat in range(players))

    def observe(self, past: Betting, board: Board, action: int, *, reweight: bool) -> None:
        """Process one action.

        Args:
            past: betting before the action.
            board: [0..5] cards on the board.
            action: the action of the player to act.
            reweight: whether to reweight the player's table.
        """
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
        """Learn from shown hands how much each action depended on the cards.

        Args:
            hands: [P] shown hands; empty for players who did not show.
        """
        for seen in self._seen:
            if hands[seen.player]:
                informed = float(seen.informed[hand_index(*hands[seen.player])])
                self.calibration.shown(self._names[seen.player], informed, seen.uninformed)

    def tables(self, players: list[int]) -> Singles:
        """Return the weight tables of some players.

        Args:
            players: n seats.

        Returns:
            float32 [n, 1326] weights, proportional to probabilities; 1 where nothing is known.
        """
        if self.predictor is None or not len(self._tables):
            return _unknown(len(players))
        return self._tables[players]

    def quantile(self, betting: Betting, board: Board) -> Singles:
        """Compute the share of hands that are weaker than each hand against random hands of the players still in.

        Args:
            board: [0..5] cards on the board.

        Returns:
            float32 [1326] shares; negative for dead hands.
        """
        active = betting.folded.count(False)
        return board_strength(board).quantile(active - 1) if board else self._rates.quantile(active)


def _unknown(players: int) -> Singles:
    return np.ones((players, NUM_HANDS), dtype=np.float32)
