"""Exact measures of a strategy for a small game, and of a solver on its way to one."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from poker.abstraction.buckets import Buckets, SmallGameBuckets
from poker.abstraction.dealers import Dealer
from poker.kernels.types import Singles
from poker.solvers.best_response.ranges import ProfileValue, evaluate_policy
from poker.solvers.kuhn import is_kuhn, mean_squared_error
from poker.tree import BettingTree

_MOST_DEALS = 1000
"""Combinations of hands up to which a game is small: six-card Leduc with three players has 512."""

Average = Callable[[int], Singles]
"""The strategy [B, A] at a betting node."""


def exact_metrics(tree: BettingTree, cards: Buckets) -> Callable[[Average], dict[str, float]]:
    """Measures `nash_conv` and `game_value` of player 0 in chips per hand, in Kuhn also `mse`; nothing for games that
    are not small (their tree is not kept), and for games with board cards on the first street."""
    rules = tree.rules
    small = isinstance(cards, SmallGameBuckets) and rules.num_hands**rules.num_players <= _MOST_DEALS
    if not small or rules.board_cards[0]:
        return lambda average: {}

    def measure(average: Average) -> dict[str, float]:
        exact = strategy_value(tree, cards, average)
        metrics = {"nash_conv": exact.nash_conv, "game_value": exact.value}
        return {**metrics, "mse": mean_squared_error(tree, average)} if is_kuhn(tree.rules) else metrics

    return measure


def strategy_value(tree: BettingTree, cards: Buckets, average: Average) -> ProfileValue:
    """Exact values of a strategy of all players, and of best responses to it."""
    rows = lru_cache(maxsize=None)(average)
    return evaluate_policy(tree, lambda node, board: rows(node)[cards.buckets(board)])


class Solver(Protocol):
    """A solver: `run` to a total number of iterations, and the average strategy [B, A] of a node."""

    @property
    def iterations(self) -> int: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None: ...

    def average(self, node: int) -> Singles: ...


SolverFactory = Callable[[BettingTree, Buckets, Dealer], Solver]


@dataclass(frozen=True)
class Measurement:
    iterations: int
    seconds: float
    value: ProfileValue


def solve_and_measure(solver: Solver, tree: BettingTree, cards: Buckets, stops: Sequence[int]) -> Iterator[Measurement]:
    """Runs the solver to each of `stops`, numbers of iterations, and measures there; the time is that of the solver."""
    seconds = 0.0
    for stop in stops:
        if stop > solver.iterations:
            started = time.perf_counter()
            solver.run(iterations=stop)
            seconds += time.perf_counter() - started
            yield Measurement(solver.iterations, seconds, strategy_value(tree, cards, solver.average))
