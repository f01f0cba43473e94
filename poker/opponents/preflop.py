"""Preflop income rates by roll-outs, for 2 to 10 players [POKI] section 5.2.

In a roll-out everybody who enters pays one bet, there is no more betting, and the board decides. The income rate of a
hand class is its mean profit for each bet invested, so -1 means always lost. In the plain roll-out everybody enters. In
the iterated one a player enters only with hands that earned more, in the previous iteration, than giving up costs: a
player's share of the blinds of one and a half bets, 1.5 / n. Entering is averaged over iterations (fictitious play),
which converges where an alternation of tight and loose tables would not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.artifacts import Artifact, open_artifact, write_artifact
from poker.cards import NUM_HANDS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.kernels.opponents.preflop_rollouts import COUNT, INCOME, SQUARES, add_rollouts

KIND = "preflop_rollouts"
MIN_PLAYERS, MAX_PLAYERS = 2, 10
BLINDS = 1.5
"""Small and big blind together, in bets."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class IncomeRates:
    """Row n - 2 of each array [9, 169] is for n players; see the module docstring. Errors are standard errors."""

    plain: Floats
    plain_error: Floats
    iterated: Floats
    iterated_error: Floats
    enters: Floats

    def quantile(self, players: int) -> NDArray[np.float32]:
        """[1326] share of hands that earn less in the iterated roll-out, plus half of the own class; in 0..1."""
        return np.asarray(self._quantiles[_row(players)])

    def entering_share(self, players: int) -> float:
        """Share of all hands that enter in the iterated roll-out."""
        return float(self.enters[_row(players)] @ PREFLOP_CLASS_SIZE / NUM_HANDS)

    @cached_property
    def _quantiles(self) -> NDArray[np.float32]:
        rows = []
        for rates in self.iterated:
            order = np.argsort(rates, kind="stable")
            share = np.empty(len(rates), dtype=np.float32)
            share[order] = (np.cumsum(PREFLOP_CLASS_SIZE[order]) - PREFLOP_CLASS_SIZE[order] / 2) / NUM_HANDS
            rows.append(share[PREFLOP_CLASS])
        return np.array(rows, dtype=np.float32)

    def save(self, path: str | Path, config: dict[str, int]) -> Artifact:
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return write_artifact(path, KIND, config=config, arrays=arrays)

    @classmethod
    def load(cls, path: str | Path) -> "IncomeRates":
        arrays = open_artifact(path, KIND).arrays
        return cls(**{name: np.array(arrays[name]) for name in arrays})


class RollOuts:
    """Computes `IncomeRates`: `deals` for a result, `iteration_deals` for each of `iterations` on the way to it."""

    def __init__(self, *, deals: int, iterations: int, iteration_deals: int, rng: NDArray[np.uint64]) -> None:
        self._deals = deals
        self._iterations = iterations
        self._iteration_deals = iteration_deals
        self._rng = rng
        rows = MAX_PLAYERS - MIN_PLAYERS + 1
        self._found = {name: np.zeros((rows, len(PREFLOP_CLASS_SIZE))) for name in IncomeRates.__dataclass_fields__}

    def run(self) -> Iterator[tuple[int, float]]:
        """After each iteration: number of players, mean change of who enters; `rates` is complete at the end."""
        for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
            row, forfeit = _row(players), BLINDS / players
            play = np.ones(len(PREFLOP_CLASS_SIZE))
            self._found["plain"][row], self._found["plain_error"][row] = self._rates(players, self._deals, play)
            for iteration in range(1, self._iterations + 1):
                rates, _ = self._rates(players, self._iteration_deals, play)
                step = ((rates > -forfeit) - play) / (iteration + 1)
                play += step
                yield players, float(np.abs(step) @ PREFLOP_CLASS_SIZE / NUM_HANDS)
            self._found["enters"][row] = play
            self._found["iterated"][row], self._found["iterated_error"][row] = self._rates(players, self._deals, play)

    @property
    def rates(self) -> IncomeRates:
        return IncomeRates(**self._found)

    def _rates(self, players: int, deals: int, play: Floats) -> tuple[Floats, Floats]:
        """[169] mean income of each class and its standard error."""
        sums = np.zeros((3, len(PREFLOP_CLASS_SIZE)))
        add_rollouts(players, deals, play, PREFLOP_CLASS, BLINDS / players, self._rng, sums)
        count = np.maximum(sums[COUNT], 1)
        mean = sums[INCOME] / count
        return mean, np.sqrt(np.maximum(sums[SQUARES] / count - mean**2, 0) / count)


def _row(players: int) -> int:
    return min(max(players, MIN_PLAYERS), MAX_PLAYERS) - MIN_PLAYERS
