"""The types of solves: what is solved, up to which limits, and the policy at a decision.

Symbols: H hands, A actions.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import Betting
from poker.kernels.types import Board, Ranges, Singles
from poker.run.errors import PokernetsError
from poker.solve.modelled import Modelled
from poker.solvers.vector.schedules import schedule
from poker.solvers.vector.solver import SolveProgress

ProgressCallback = Callable[[SolveProgress], None]
"""Called with every measurement of exploitability."""


@dataclass(frozen=True)
class NodePolicy:
    """The policy at one decision.

    Attributes:
        player: the player to act.
        actions: the A actions.
        probs: float32 [H, A] probabilities; rows sum to 1. Hands that the solve left out have uniform rows without
            meaning.
        solved: bool [H] hands that the solve included; None for all.
    """

    player: int
    actions: tuple[int, ...]
    probs: Singles
    solved: NDArray[np.bool_] | None = None

    def probability(self, action: int) -> Singles:
        """Return the probability [H] of one of `actions`."""
        return self.probs[:, self.actions.index(action)]


@dataclass(frozen=True)
class Budget:
    """Limits of a solve, which stops at the first that it reaches, and the means to run it.

    Attributes:
        iterations: number of iterations; None for any number.
        exploitability: exploitability in pots; None for no such limit.
        seconds: seconds; None for no limit.
        algorithm: update schedule of CFR.
        threads: threads of the solve.
        device: `cpu`, `cuda`, or `torch` (the CUDA code on the CPU, slow and meant for tests).
        memory_limit_gib: most memory in GiB.
    """

    iterations: int | None = None
    exploitability: float | None = None
    seconds: float | None = None
    algorithm: str = "apdcfr"
    threads: int = 1
    device: str = "cpu"
    memory_limit_gib: float = 8.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            PokernetsError: a number is not positive.
        """
        for name in ("iterations", "exploitability", "seconds", "threads", "memory_limit_gib"):
            number = getattr(self, name)
            if number is not None and not 0 < number < math.inf:
                raise PokernetsError(f"`{name}` of a solve must be positive, not {number}")


@dataclass(frozen=True)
class SolverSettings:
    """Settings of the solver.

    Attributes:
        algorithm: update schedule of CFR.
        iterations: most iterations of a solve by its first street; the last entry also serves later streets. Solves
            with a time limit ignore it.
        threads: threads of a solve.
        exploitability: a solve stops at this exploitability in pots, one number or one by street; 0 for no such limit.
        device: cpu, cuda, or torch (the CUDA code on the CPU, slow and meant for tests).
    """

    algorithm: str
    iterations: tuple[int, ...]
    threads: int
    exploitability: float | Sequence[float] = 0.0
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: the algorithm, iterations or exploitability are invalid.
        """
        schedule(self.algorithm)
        given = self.iterations if isinstance(self.iterations, Sequence) else ()
        if not given or not all(type(count) is int and count > 0 for count in given):
            raise PokernetsError(
                f"search.solver.iterations must list numbers by street, such as [200,100], not {self.iterations}"
            )
        limits = self.exploitability if isinstance(self.exploitability, Sequence) else [self.exploitability]
        if not limits or not all(limit >= 0 for limit in limits):
            raise PokernetsError(f"search.solver.exploitability must be a pot fraction, not {self.exploitability}")

    @classmethod
    def of(cls, budget: Budget) -> "SolverSettings":
        """Return settings with the same limits on every street."""
        assert budget.iterations is not None
        return cls(budget.algorithm, (budget.iterations,), budget.threads, budget.exploitability or 0.0, budget.device)

    def on(self, street: int) -> int:
        """Return the iterations of a solve that starts on `street`."""
        return self.iterations[min(street, len(self.iterations) - 1)]

    def to(self, street: int) -> float | None:
        """Return the exploitability in pots at which a solve on `street` stops; None if only iterations count."""
        given = self.exploitability
        return (given[min(street, len(given) - 1)] if isinstance(given, Sequence) else given) or None

    def budget(self, street: int, seconds: float | None = None, patience: int = 1) -> Budget:
        """Return the limits of a solve that starts on `street`.

        Args:
            seconds: seconds of the solve, instead of iterations; None for no limit.
            patience: factor on the iterations.
        """
        iterations = patience * self.on(street) if seconds is None else None
        return Budget(iterations, self.to(street), seconds, self.algorithm, self.threads, self.device)


class Request(NamedTuple):
    """A request to solve a round.

    Attributes:
        root: state at the root.
        ranges: [2, H] ranges of both players.
        searcher: the player who searches.
        at_root: raises that the root must offer in addition to the menu.
        alternatives: [H] values that the solve must not exceed for the opponent's hands, if the settings require
            safety.
        modelled: the part of the opponent's range that plays by a model; the rest is free.
        for_other: whether the solve serves the searcher's range in a search of the opponent.
    """

    root: Betting
    board: Board
    ranges: Ranges
    searcher: int
    at_root: tuple[int, ...] = ()
    alternatives: Singles | None = None
    modelled: Modelled | None = None
    for_other: bool = False

    @property
    def state(self) -> Hashable:
        """Key of the request, which determines the rest of it within the searches of one agent."""
        return self.searcher, self.root.text(), self.board, self.at_root, self.for_other

    def equals(self, other: "Request") -> bool:
        """Return whether another request is for the same solve."""
        return self.state == other.state and np.array_equal(self.ranges, other.ranges)
