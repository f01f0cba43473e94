"""Exact measures of strategies in small games, also during the training of a solver."""

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

_MAX_DEALS = 1000
"""Largest number of combinations of hands in a small game; six-card Leduc with three players has 512."""

Average = Callable[[int], Singles]
"""The strategy [B, A] at a betting node."""


def exact_metrics(tree: BettingTree, cards: Buckets) -> Callable[[Average], dict[str, float]]:
    """Return a function that measures a strategy exactly.

    Returns:
        A function from a strategy to its measures. They are `nash_conv` and `game_value` of player 0 in chips per hand,
        and `mse` in Kuhn poker. The result is empty for large games and for games with board cards on the first street.
        The function then keeps no reference to the tree.
    """
    rules = tree.rules
    small = isinstance(cards, SmallGameBuckets) and rules.num_hands**rules.num_players <= _MAX_DEALS
    if not small or rules.board_cards[0]:
        return lambda average: {}

    def measure(average: Average) -> dict[str, float]:
        exact = strategy_value(tree, cards, average)
        metrics = {"nash_conv": exact.nash_conv, "game_value": exact.value}
        return {**metrics, "mse": mean_squared_error(tree, average)} if is_kuhn(tree.rules) else metrics

    return measure


def strategy_value(tree: BettingTree, cards: Buckets, average: Average) -> ProfileValue:
    """Compute the exact values of a strategy of all players and of best responses to it.

    Args:
        average: function from a betting node to its strategy [B, A].
    """
    rows = lru_cache(maxsize=None)(average)
    return evaluate_policy(tree, lambda node, board: rows(node)[cards.buckets(board)])


class Solver(Protocol):
    """A solver that runs to a total number of iterations and has an average strategy."""

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that checkpoints and blueprints record."""

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until a total number of iterations or for some seconds from now."""

    def average(self, node: int) -> Singles:
        """Return the average strategy [B, A] at a betting node."""


SolverFactory = Callable[[BettingTree, Buckets, Dealer], Solver]


@dataclass(frozen=True)
class Measurement:
    """The exact values of a solver's average strategy at one moment.

    Attributes:
        iterations: iterations so far.
        seconds: seconds that the solver has run.
        value: values of the strategy and of best responses to it.
    """

    iterations: int
    seconds: float
    value: ProfileValue


def solve_and_measure(solver: Solver, tree: BettingTree, cards: Buckets, stops: Sequence[int]) -> Iterator[Measurement]:
    """Run a solver and measure it at several numbers of iterations.

    Args:
        stops: total iterations at which to measure, ascending.

    Yields:
        One measurement per stop; the seconds exclude the measuring.
    """
    seconds = 0.0
    for stop in stops:
        if stop > solver.iterations:
            started = time.perf_counter()
            solver.run(iterations=stop)
            seconds += time.perf_counter() - started
            yield Measurement(solver.iterations, seconds, strategy_value(tree, cards, solver.average))
