"""Preflop income rates by roll-outs, for 2 to 10 players ([POKI] section 5.2).

In a roll-out, everybody who enters pays one bet, nobody bets again, and the board decides. The income rate of a hand
class is its mean profit per bet invested, so -1 means that it always loses.

In the plain roll-out everybody enters. In the iterated one, a player enters only with hands that earned more than
folding in the previous iteration. Folding costs a player's share of the blinds of one and a half bets, 1.5 / n.
Entering is averaged over iterations (fictitious play). The average converges, while single iterations would alternate
between tight and loose tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.kernels.opponents.preflop_rollouts import COUNT, INCOME, SQUARES, add_rollouts
from poker.kernels.rng import streams
from poker.kernels.types import U64, Floats, Singles
from poker.run.commands import how_to_replace
from poker.run.errors import PokernetsError
from poker.store.artifacts import Artifact, CorruptArtifactError, open_artifact, refuses_by_name, write_artifact

KIND = "preflop_rollouts"
MIN_PLAYERS, MAX_PLAYERS = 2, 10
BLINDS = 1.5
"""Small and big blind together, in bets."""


class IncomeRow(NamedTuple):
    """Income rates for one number of players.

    Attributes:
        rates: five arrays [169], in the order of `IncomeRates`.
        changes: [iterations] share of all hands that changed whether they enter, per iteration.
    """

    players: int
    rates: tuple[Floats, ...]
    changes: list[float]


@dataclass(frozen=True)
class IncomeRates:
    """Income rates [9, 169] for 2 to 10 players, where row n - 2 is for n players; see the module's docstring.

    Attributes:
        plain: rates of the plain roll-out.
        plain_error: their standard errors.
        iterated: rates of the iterated roll-out.
        iterated_error: their standard errors.
        enters: probability that a hand enters the iterated roll-out.
    """

    plain: Floats
    plain_error: Floats
    iterated: Floats
    iterated_error: Floats
    enters: Floats

    def quantile(self, players: int) -> Singles:
        """Return the share of hands that earn less in the iterated roll-out, plus half of the hand's own class.

        Returns:
            float32 [1326] shares from 0 to 1.
        """
        return np.asarray(self._quantiles[_row(players)])

    def entering_share(self, players: int) -> float:
        """Return the share of all hands that enter in the iterated roll-out."""
        return float(self.enters[_row(players)] @ PREFLOP_CLASS_SIZE / NUM_HANDS)

    @cached_property
    def _quantiles(self) -> Singles:
        rows = []
        for rates in self.iterated:
            order = np.argsort(rates, kind="stable")
            share = np.empty(len(rates), dtype=np.float32)
            share[order] = (np.cumsum(PREFLOP_CLASS_SIZE[order]) - PREFLOP_CLASS_SIZE[order] / 2) / NUM_HANDS
            rows.append(share[PREFLOP_CLASS])
        return np.array(rows, dtype=np.float32)

    @classmethod
    def of(cls, rows: Iterable[IncomeRow]) -> "IncomeRates":
        """Collect the rows of all numbers of players, in any order.

        Args:
            rows: one row per number of players.
        """
        ascending = sorted(rows, key=lambda row: row.players)
        return cls(*(np.array(rates) for rates in zip(*(row.rates for row in ascending), strict=True)))

    def save(self, path: str | Path, config: dict[str, int]) -> Artifact:
        """Write the rates as an artifact.

        Args:
            path: folder of the new artifact.
            config: settings to store.
        """
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return write_artifact(path, KIND, config=config, arrays=arrays)

    @classmethod
    @refuses_by_name(KIND)
    def load(cls, path: str | Path) -> "IncomeRates":
        """Read the rates from an artifact.

        Args:
            path: folder of the artifact.

        Raises:
            CorruptArtifactError: the artifact's arrays do not have the shape [9, 169].
        """
        arrays = open_artifact(path, KIND).arrays
        rates = {field.name: np.array(arrays[field.name]) for field in fields(cls)}
        shape = MAX_PLAYERS - MIN_PLAYERS + 1, len(PREFLOP_CLASS_SIZE)
        if any(array.shape != shape for array in rates.values()):
            raise CorruptArtifactError(f"{path}: arrays must have the shape {shape}", how_to_replace(KIND, Path(path)))
        return cls(**rates)


@dataclass(frozen=True)
class RollOuts:
    """Settings of roll-outs.

    Attributes:
        deals: deals of a result.
        iterations: number of iterations before the last.
        iteration_deals: deals of each iteration.
        seed: seed of the random streams.
    """

    deals: int
    iterations: int
    iteration_deals: int
    seed: int

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: a number of deals is below 1, or `iterations` is negative.
        """
        if min(self.deals, self.iteration_deals) < 1 or self.iterations < 0:
            raise PokernetsError("job=preflop_rollouts needs deals and iteration_deals of at least 1")

    def of(self, players: int) -> IncomeRow:
        """Compute the rates for one number of players, from a random stream of its own."""
        rng = streams(self.seed, MAX_PLAYERS - MIN_PLAYERS + 1)[_row(players)]
        play, forfeit = np.ones(len(PREFLOP_CLASS_SIZE)), BLINDS / players
        plain = _rates(players, self.deals, play, rng)
        changes = []
        for iteration in range(1, self.iterations + 1):
            rates, _ = _rates(players, self.iteration_deals, play, rng)
            step = ((rates > -forfeit) - play) / (iteration + 1)
            play += step
            changes.append(float(np.abs(step) @ PREFLOP_CLASS_SIZE / NUM_HANDS))
        return IncomeRow(players, (*plain, *_rates(players, self.deals, play, rng), play), changes)


def _rates(players: int, deals: int, play: Floats, rng: U64) -> tuple[Floats, Floats]:
    """Return the mean income [169] of each class and its standard error [169]."""
    sums = np.zeros((3, len(PREFLOP_CLASS_SIZE)))
    add_rollouts(players, deals, play, PREFLOP_CLASS, BLINDS / players, rng, sums)
    count = np.maximum(sums[COUNT], 1)
    mean = sums[INCOME] / count
    return mean, np.sqrt(np.maximum(sums[SQUARES] / count - mean**2, 0) / count)


def _row(players: int) -> int:
    return min(max(players, MIN_PLAYERS), MAX_PLAYERS) - MIN_PLAYERS
