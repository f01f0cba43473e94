"""The simulation player of [POKI]: after the flop it samples the values of its actions and takes the best.

Before the flop, and for weight tables and habits, it is the formula player.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.agents.poki.formula import PokiFormula
from poker.game.cards import hand_index
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.kernels.rng import streams
from poker.opponents.inputs.limit import NUM_BET_LEVELS
from poker.opponents.limit.playout import LineValues, PlayoutBudget, line_values
from poker.opponents.model import NUM_STREETS, Context


@dataclass(kw_only=True, eq=False)
class PokiSimulation(PokiFormula):
    """The simulation player; it samples until an action leads or the budget is spent.

    Play is a function of the seed unless the time limit is reached.

    Attributes:
        batch: trials per batch.
        trials: largest number of trials.
        seconds: time limit.
        margin: lead at which sampling stops, in standard errors.
    """

    batch: int
    trials: int
    seconds: float
    margin: float

    def __post_init__(self) -> None:
        """Prepare the formula player and the random numbers."""
        super().__post_init__()
        self._stream = streams(0, 1)[0]

    def reset(self, seed: int) -> None:
        """Restart the random numbers, and forget the opponents.

        Args:
            seed: seed of the random numbers.
        """
        super().reset(seed)
        self._stream = streams(seed, 1)[0]

    def act(self, state: HandState) -> int:
        """Return the action with the largest sampled value; before the flop, the formula player's action.

        Args:
            state: view of a state in which the agent is to act.
        """
        if not state.board:
            return super().act(state)
        self.tracker.follow(state)
        legal = state.legal()
        best, _ = self.values(state).leader(legal.fold, legal.max_raise > 0)
        return {"fold": FOLD, "call": CALL, "raise": legal.max_raise}[best]

    def values(self, state: HandState) -> LineValues:
        """Sample the values of calling and raising with the player's hand.

        Args:
            state: view of a state after the flop in which the agent is to act.
        """
        betting = state.betting
        everybody = list(range(state.rules.num_players))
        return line_values(
            hand_index(*state.hole_cards[betting.to_act]),
            betting,
            state.board,
            self.tracker.tables(everybody),
            self._habits(len(everybody)),
            self.style,
            PlayoutBudget(self.batch, self.trials, self.seconds, self.margin),
            self._stream,
        )

    def _habits(self, players: int) -> NDArray[np.float64]:
        """Return the action frequencies [P, 12, 3] of each player by context."""
        habits = self.tracker.habits
        contexts = [(street, level) for street in range(NUM_STREETS) for level in range(NUM_BET_LEVELS)]
        names = self.tracker.seat_names(players)
        rows = [[habits.probs(Context(name, *context)) for context in contexts] for name in names]
        return np.array(rows, dtype=np.float64)
