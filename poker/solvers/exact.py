"""Exact solution of whole small games: the vector engine as a trainer of blueprints, with lossless cards.

An iteration updates both players over all hands and boards. It is meant for games such as Kuhn and Leduc poker.
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
    """A blueprint trainer that runs CFR without sampling.

    Attributes:
        sampling: placement of infosets in the blueprint.
        visits: number of (hand, action) updates so far.
    """

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
        """Prepare the solver.

        Args:
            tree: betting tree of a two-player game with one hole card.
            cards: its lossless buckets.
            dealer: unused, because nothing is sampled.
            algorithm: a name in `poker.solvers.vector.schedules`.
            options: parameters of the algorithm.

        Raises:
            PokernetsError: the game is too large or the algorithm is unknown.
        """
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
        """Number of iterations so far."""
        return self._solver.iterations

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that checkpoints and blueprints record."""
        return {"solver": self._solver.schedule.name, "options": self._options}

    @property
    def bytes_needed(self) -> int:
        """Bytes of all tables."""
        return sum(array.nbytes for array in self._solver.arrays.values())

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until a total number of iterations or for some time.

        Args:
            iterations: total number of iterations; None for no limit.
            seconds: seconds from now; None for no limit.
        """
        before = self.iterations
        remaining = None if iterations is None else max(0, iterations - before)
        self._solver.run(iterations=remaining, seconds=seconds)
        self.visits += (self.iterations - before) * self._solver.game.hand_actions

    def metrics(self) -> dict[str, float]:
        """Return the measures of `poker.solvers.small_games.exact_metrics`."""
        return exact_metrics(self.tree, self._cards)(self.average)

    def average(self, node: int) -> Singles:
        """Return the average strategy at a betting node.

        Args:
            node: a decision node.

        Returns:
            float32 [B, A]; uniform for buckets that occur on no board.
        """
        street, actions = int(self.tree.street[node]), int(self.tree.num_children[node])
        out = np.full((self._cards.num_buckets[street], actions), 1 / actions, dtype=np.float32)
        for board in self._boards(street):
            buckets = self._cards.buckets(board)
            live = buckets >= 0
            out[buckets[live]] = self._solver.strategy(node, board)[live]
        return out

    def averages(self, nodes: NDArray[np.int32]) -> Singles:
        """Return the average strategies at several betting nodes.

        Args:
            nodes: int32 [K] nodes of one street and number of actions.

        Returns:
            float32 [K, B, A].
        """
        return np.stack([self.average(int(node)) for node in nodes])

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """Return everything that a later run needs to continue: arrays [entries] and counters."""
        return dict(self._solver.arrays), {"iterations": self.iterations, "visits": self.visits}

    def restore(self, arrays: Mapping[str, NDArray[Any]], counters: Mapping[str, int]) -> None:
        """Continue from the `state()` of a solver that was created with the same arguments.

        Args:
            arrays: arrays of the state, shaped [entries] as in this solver.
            counters: counters of the state.

        Raises:
            PokernetsError: an array has another shape.
        """
        for name, array in self._solver.arrays.items():
            if arrays[name].shape != array.shape:
                raise PokernetsError(f"the checkpoint's {name} have {arrays[name].size:,} numbers, not {array.size:,}")
            array[:] = arrays[name]
        self._solver.iterations, self.visits = counters["iterations"], counters["visits"]

    def _boards(self, street: int) -> list[Board]:
        """Return every board of a street, with the cards of one deal in ascending order only."""
        rules = self.tree.rules
        rounds = (itertools.combinations(range(rules.deck_size), dealt) for dealt in rules.board_cards[: street + 1])
        boards = (tuple(itertools.chain(*cards)) for cards in itertools.product(*rounds))
        return [board for board in boards if len(set(board)) == len(board)]
