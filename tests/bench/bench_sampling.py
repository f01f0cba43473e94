"""Speed of the sampling family: limit hold'em episodes, and Leduc beside OpenSpiel's C++ solvers in one run.

Hold'em deals are real; their buckets come from random tables of the sizes of [SUCT], which are as slow to read as those
of an abstraction; one and eight episodes in play, on one thread and on two, take turns, so that what else the machine
does falls on all; `times` is the ratio to the first. Leduc: an iteration updates each player once, as OpenSpiel counts,
so ours is two episodes of outcome sampling. Rates of hold'em are per second of the clock, of Leduc per CPU second.
"""

import time
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
import pyspiel

from poker.abstraction.buckets import BOARD_SIZES, SmallGameBuckets, make_abstraction
from poker.abstraction.dealers import HoldemDealer, SmallGameDealer
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from poker.game.state import Betting
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.kernels.rng import streams
from poker.solvers.sampling.base import SamplingSolver
from poker.solvers.sampling.mccfr import ExternalSampling, OutcomeSampling
from poker.solvers.sampling.uct import Uct
from poker.tree import build_tree
from tests.games import load_rules

GRID = (169, 1000, 500, 200)
SECONDS, ROUNDS = 2.0, 5
SEEDS = range(1, 6)
EXPLORE = 0.6
LENGTHS = {"outcome_sampling": (10_000, 100_000), "external_sampling": (1_000, 10_000, 100_000)}


class Exploration(TypedDict):
    """Constants of `Uct`."""

    eta: float
    gamma: float
    decay: float
    ceiling: float
    potential: float


SMOOTH = Exploration(eta=0.9, gamma=0.1, decay=0.00005, ceiling=240.0, potential=0.5)
PLAIN = Exploration(eta=1.0, gamma=1.0, decay=0.0, ceiling=240.0, potential=0.5)


def run() -> list[dict[str, Any]]:
    """Rows of `make bench`."""
    return _holdem() + _beside_openspiel()


def _holdem() -> list[dict[str, Any]]:
    rules = load_rules("holdem_limit_2p")
    rng = np.random.default_rng(0)
    tables: list[Any] = [PREFLOP_CLASS[None]]
    for cards, size in zip(BOARD_SIZES[1:], GRID[1:], strict=True):
        kind = np.uint8 if size <= 256 else np.uint16
        tables.append(rng.integers(0, size, (NUM_BOARDS[cards], NUM_HANDS), dtype=kind))
    abstraction = make_abstraction(tables, GRID)
    tree, dealer = build_tree(Betting.start(rules)), HoldemDealer(rules, abstraction)
    stream = streams(1, 1)[0]
    dealer.deal(stream, 1000)
    started = time.process_time()
    dealer.deal(stream, 200_000)
    rows = [_row("limit hold'em deals, 2 players", 200_000 / (time.process_time() - started), "deals/s")]
    for name, settings in (("uct", PLAIN), ("smooth_uct", SMOOTH)):
        ways = ({"threads": 1, "together": 1}, {"threads": 1, "together": 8}, {"threads": 2, "together": 8})
        solvers = [
            Uct(tree, abstraction, dealer, seed=1, threads=w["threads"], together=w["together"], **settings)
            for w in ways
        ]
        for solver in solvers:
            solver.run(iterations=1_000_000)
        rates = np.array([[_rate(solver, time.perf_counter) for solver in solvers] for _ in range(ROUNDS)])
        times = np.median(rates / rates[:, :1], axis=0)
        for way, rate, faster, solver in zip(ways, np.median(rates, axis=0), times, solvers, strict=True):
            more = {**way, "times": float(faster), "table_mb": round(solver.bytes_needed / 1e6, 1)}
            rows.append(_row(f"limit hold'em {name}, 2 players", float(rate), "episodes/s", **more))
    return rows


def _rate(solver: SamplingSolver, clock: Callable[[], float]) -> float:
    """Iterations a second over one stretch."""
    before, started = solver.iterations, clock()
    solver.run(seconds=SECONDS)
    return (solver.iterations - before) / (clock() - started)


def _beside_openspiel() -> list[dict[str, Any]]:
    game = pyspiel.load_game("leduc_poker")
    theirs: dict[str, Callable[[int], Any]] = {
        "outcome_sampling": lambda seed: pyspiel.OutcomeSamplingMCCFRSolver(game, EXPLORE, seed),
        "external_sampling": lambda seed: pyspiel.ExternalSamplingMCCFRSolver(
            game, seed, pyspiel.MCCFRAverageType.SIMPLE
        ),
    }
    rows = []
    for name, solver_of in theirs.items():
        episodes = 2 if name == "outcome_sampling" else 1
        ours = {seed: _ours(name, seed) for seed in SEEDS}
        others = {seed: solver_of(seed) for seed in SEEDS}
        _iterate(ours[1], 1_000, episodes)
        ours[1] = _ours(name, 1)
        done, our_seconds, their_seconds = 0, 0.0, 0.0
        for length in LENGTHS[name]:
            for seed in SEEDS:
                our_seconds += _iterate(ours[seed], length, episodes)
                started = time.process_time()
                for _ in range(length - done):
                    others[seed].run_iteration()
                their_seconds += time.process_time() - started
            done = length
            rows.append(
                {
                    **_row(f"leduc {name}: nash_conv after {length} iterations, mean of 5 seeds", 0.0, "chips"),
                    "value": float(np.mean([ours[seed].metrics()["nash_conv"] for seed in SEEDS])),
                    "openspiel": float(
                        np.mean([pyspiel.nash_conv(game, others[seed].average_policy(), True) for seed in SEEDS])
                    ),
                }
            )
        rate = max(_rate(ours[1], time.process_time) / episodes, done * len(SEEDS) / our_seconds)
        reference = done * len(SEEDS) / their_seconds
        row = _row(f"leduc {name}, one core", rate, "iterations/s", openspiel=reference, times=rate / reference)
        rows.append(row)
    return rows


def _ours(name: str, seed: int) -> SamplingSolver:
    rules = load_rules("leduc")
    parts = build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules)
    if name == "outcome_sampling":
        return OutcomeSampling(*parts, seed=seed, batch=500, explore=EXPLORE)
    return ExternalSampling(*parts, seed=seed, batch=500, discount_every=1000)


def _iterate(solver: SamplingSolver, length: int, episodes: int) -> float:
    """CPU seconds to bring the solver to `length` iterations of `episodes` each."""
    started = time.process_time()
    solver.run(iterations=length * episodes)
    return time.process_time() - started


def _row(name: str, value: float, unit: str, **more: float) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, **more}
