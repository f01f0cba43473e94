"""Whole small games solved exactly: the vector engine as a trainer of blueprints, for lossless cards.

An iteration updates both players over all hands and boards. Made for Kuhn, Leduc and their kind.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets, SmallGameBuckets
from poker.abstraction.dealers import Dealer
from poker.kernels.types import Board, Singles
from poker.run.errors import PokernetsError
from poker.solvers.sampling.tree import sampling_tree
from poker.solvers.small_games import exact_metrics
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.schedules import schedule
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree


class ExactSolver:
    """Exact solver. `algorithm` names one of `poker.solvers.vector.schedules`, which `options` change; nothing is
    sampled, so `dealer` is not asked."""

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        algorithm: str,
        options: Mapping[str, float] | None = None,
        threads: int = 2,
    ) -> None:
        if not isinstance(cards, SmallGameBuckets) or tree.rules.num_players != 2 or tree.rules.board_cards[0]:
            raise PokernetsError(
                f"solver={algorithm} solves two-player games with one hole card and no board cards on the first "
                f"street, without abstraction; for {tree.rules.name} use solver=external_sampling"
            )
        self.tree = tree
        self.sampling = sampling_tree(tree, cards.num_buckets)
        self.visits = 0
        self._cards = cards
        self._options = dict(options or {})
        self._solver = VectorSolver(VectorGame(tree), schedule(algorithm, **self._options), threads=threads)

    @property
    def iterations(self) -> int:
        return self._solver.iterations

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that a checkpoint or a blueprint records."""
        return {"solver": self._solver.schedule.name, "options": self._options}

    @property
    def bytes_needed(self) -> int:
        return sum(array.nbytes for array in self._solver.arrays.values())

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until the solver has done `iterations` in all or for `seconds` from now."""
        before = self.iterations
        left = None if iterations is None else max(0, iterations - before)
        self._solver.run(iterations=left, seconds=seconds)
        self.visits += (self.iterations - before) * self._solver.game.hand_actions

    def metrics(self) -> dict[str, float]:
        """Measures of `poker.solvers.small_games.exact_metrics`."""
        return exact_metrics(self.tree, self._cards)(self.average)

    def average(self, node: int) -> Singles:
        """[B, A] average strategy at a betting node; uniform for buckets that no board makes."""
        street, actions = int(self.tree.street[node]), int(self.tree.num_children[node])
        out = np.full((self._cards.num_buckets[street], actions), 1 / actions, dtype=np.float32)
        for board in self._boards(street):
            buckets = self._cards.buckets(board)
            live = buckets >= 0
            out[buckets[live]] = self._solver.strategy(node, board)[live]
        return out

    def averages(self, nodes: NDArray[np.int32]) -> Singles:
        """[K, B, A] average strategies of betting nodes of one street and number of actions."""
        return np.stack([self.average(int(node)) for node in nodes])

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """All that a later run needs to continue: arrays and counters."""
        return dict(self._solver.arrays), {"iterations": self.iterations, "visits": self.visits}

    def restore(self, arrays: Mapping[str, NDArray[Any]], counters: Mapping[str, int]) -> None:
        """Continue from `state()` of a solver made with the same arguments."""
        for name, array in self._solver.arrays.items():
            if arrays[name].shape != array.shape:
                raise PokernetsError(f"the checkpoint's {name} have {arrays[name].size:,} numbers, not {array.size:,}")
            array[:] = arrays[name]
        self._solver.iterations, self.visits = counters["iterations"], counters["visits"]

    def _boards(self, street: int) -> list[Board]:
        """Every board of a street, with the cards of one street in one order only."""
        rules = self.tree.rules
        rounds = (itertools.combinations(range(rules.deck_size), dealt) for dealt in rules.board_cards[: street + 1])
        boards = (tuple(itertools.chain(*cards)) for cards in itertools.product(*rounds))
        return [board for board in boards if len(set(board)) == len(board)]
