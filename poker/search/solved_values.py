"""Values of the opponent's hands in a solution, after each action of the round and on each next card.

They are values against the searcher's range, which the searcher knows exactly, under the average strategies of both
players. Averaged over any range of the opponent they are exact, except that the opponent may depart from the solution
later.
"""

from bisect import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from poker.game.cards import CanonicalBoard
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.kernels.types import Floats, Path, Reals, Singles

if TYPE_CHECKING:
    from poker.search.safety import Starts


@dataclass(frozen=True)
class SolvedValues:
    """Values of one player's hands in a solution.

    Attributes:
        rules: the game.
        player: the player.
        values: [H] chips of the whole hand by the actions since the root of the solve; NaN for hands that it left out.
        starts: the values on each next card, if the solve includes the next deal.
    """

    rules: Rules
    player: int
    values: Mapping[Path, Singles] = field(repr=False)
    starts: "Mapping[Path, Starts]" = field(repr=False)


@dataclass(frozen=True)
class DecisionValues:
    """Values of the actions at one decision.

    Attributes:
        solved: values of the solution.
        path: actions from the root of the solve to the decision.
        board: the board in canonical and in real suits.
    """

    solved: SolvedValues
    path: Path
    board: CanonicalBoard

    @property
    def player(self) -> int:
        """The player whose hands are valued."""
        return self.solved.player

    def after(self, action: int) -> Floats | None:
        """Return the values after an action.

        Args:
            action: the action. A raise between two raises of the solution is interpolated, and one beyond them takes
                the values of the nearest.

        Returns:
            float64 [H] chips; None if they are unknown.
        """
        exact = self._value(action)
        if exact is not None or action <= 0:
            return exact
        raises = sorted(path[-1] for path in self.solved.values if path and path[:-1] == self.path and path[-1] > 0)
        at = bisect(raises, action)
        nearest = raises[max(0, at - 1) : at + 1]
        values = [self._own_suits(self.solved.values[*self.path, total]) for total in nearest]
        if len(values) < 2:
            return values[0] if values else None
        (lower, upper), (below, above) = nearest, values
        share = (action - lower) / (upper - lower)
        return (1 - share) * below + share * above

    def dealt(self, action: int, card: int) -> Floats | None:
        """Return the values with a card dealt after an action that ended the round.

        Args:
            action: the action.
            card: the card.

        Returns:
            float64 [H] chips; None if the solve stopped before the deal.
        """
        starts = self.solved.starts.get((*self.path, action))
        values = None if starts is None else starts.on(self.board.card(card), self.solved.rules)
        return None if values is None else self._own_suits(values)

    def _value(self, action: int) -> Floats | None:
        values = self.solved.values.get((*self.path, action))
        return None if values is None else self._own_suits(values)

    def _own_suits(self, values: Reals) -> Floats:
        """Return the values [H] in the suits that were dealt; hands that were left out get the mean of the others."""
        valued = np.isfinite(values)
        mean = values[valued].mean(dtype=np.float64) if valued.any() else 0.0
        return self.board.dealt(np.where(valued, values, mean).astype(np.float64))


Solved = Callable[[HandState], DecisionValues | None]
"""Function that returns a solution's values at a public state; they must not depend on the action taken there."""
