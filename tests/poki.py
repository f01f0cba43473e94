"""Small preflop tables and a table of Poki's players, for tests."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from poker.agents.poki.formula import PokiFormula
from poker.agents.poki.simulation import PokiSimulation
from poker.opponents.limit.modelling import Modelling
from poker.opponents.limit.preflop import IncomeRates, RollOuts


@cache
def rates() -> IncomeRates:
    return IncomeRates.of(map(RollOuts(deals=30_000, iterations=5, iteration_deals=10_000, seed=7).of, range(2, 11)))


@cache
def rates_path() -> str:
    path = Path(tempfile.mkdtemp()) / "preflop_rollouts"
    rates().save(path, {"deals": 30_000})
    return str(path)


def formula(
    name: str = "formula", modelling: Modelling = "generic", style: tuple[float, float, float] = (0.5, 0.5, 0.1)
) -> PokiFormula:
    tightness, aggressiveness, bluffing = style
    return PokiFormula(
        name=name,
        preflop=rates_path(),
        modelling=modelling,
        tightness=tightness,
        aggressiveness=aggressiveness,
        bluffing=bluffing,
    )


def simulation(name: str = "simulation", modelling: Modelling = "statistics", trials: int = 400) -> PokiSimulation:
    return PokiSimulation(
        name=name,
        preflop=rates_path(),
        modelling=modelling,
        tightness=0.5,
        aggressiveness=0.5,
        bluffing=0.1,
        batch=100,
        trials=trials,
        seconds=600,
        margin=2.0,
    )


def same_habits(players: int, fold: float, call: float, bet: float) -> np.ndarray:
    """[P, 12, 3] the same frequencies for everybody everywhere."""
    return np.tile([fold, call, bet], (players, 12, 1)).astype(np.float64)
