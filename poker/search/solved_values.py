"""Values of the hands of the searcher's opponent in a solution, after each action of the round and on each card dealt
right after it.

They are values against the searcher's range, which the searcher knows exactly, under the average strategies of both.
Weighted with any range of the opponent, they miss only how the opponent will depart from the solution later.
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
    """Chips of the whole hand that `player` wins with each hand [H], by the actions since the root of the solve; NaN
    for hands that it left out. `starts` hold them on every next card, where the solve looked through the deal."""

    rules: Rules
    player: int
    values: Mapping[Path, Singles] = field(repr=False)
    starts: "Mapping[Path, Starts]" = field(repr=False)


@dataclass(frozen=True)
class DecisionValues:
    """Values of the actions at one decision, reached by `path` since the root of the solve on `board`."""

    solved: SolvedValues
    path: Path
    board: CanonicalBoard

    @property
    def player(self) -> int:
        """Player whose hands are valued."""
        return self.solved.player

    def after(self, action: int) -> Floats | None:
        """[H] values after `action`: interpolated for a raise between two of the solution's, those of the nearest for
        one beyond them; None where nothing is known."""
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
        """[H] values with `card` dealt after `action` ended the round; None where the solve stopped before the deal."""
        starts = self.solved.starts.get((*self.path, action))
        values = None if starts is None else starts.on(self.board.card(card), self.solved.rules)
        return None if values is None else self._own_suits(values)

    def _value(self, action: int) -> Floats | None:
        values = self.solved.values.get((*self.path, action))
        return None if values is None else self._own_suits(values)

    def _own_suits(self, values: Reals) -> Floats:
        """[H] values in the suits that were dealt; hands that were left out are worth the mean of the others."""
        valued = np.isfinite(values)
        mean = values[valued].mean(dtype=np.float64) if valued.any() else 0.0
        return self.board.dealt(np.where(valued, values, mean).astype(np.float64))


Solved = Callable[[HandState], DecisionValues | None]
"""Values of a solution at a public state; they must not depend on what is done there."""
