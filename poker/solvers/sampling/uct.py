"""Extensive-form UCT and Smooth UCT [SUCT] as trainers of blueprints; `poker.kernels.sampling.uct` plays an episode.

Exploration is either constant or, as in the paper's limit hold'em, c = min(C, pot + k * remaining betting potential).
That is the pot when the betting round began, plus k times the chips that betting could still add.

Two policies can be extracted: the average one, N(u, a) / N(u), which Smooth UCT mixes into its play, and the greedy
one, which takes the action with the best mean.

If `together` is above 1, a thread plays several episodes in turns. This is faster, because memory accesses overlap. It
learns equally well if there are many information states (`poker.kernels.sampling.uct`). Like the number of threads it
is not recorded.
"""

from typing import Unpack

import numpy as np

from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import Dealer
from poker.kernels.sampling import uct
from poker.kernels.sampling.nodes import Deals
from poker.kernels.types import I32, U64, Columns, Reals, Singles
from poker.run.errors import PokernetsError
from poker.solvers.sampling.base import SamplingOptions, SamplingSolver, normalised, zeros
from poker.solvers.sampling.tree import SamplingTree
from poker.tree import BettingTree

POLICIES = ("average", "greedy")
_MAX_COUNT = 1 << 30


class Uct(SamplingSolver):
    """UCT or Smooth UCT.

    Smooth UCT mixes with eta_k = max(gamma, eta / (1 + decay sqrt(N))). With gamma = 1 it is plain UCT.

    Attributes:
        means: [entries] mean value in chips of each action of each infoset.
        counts: int32 [entries] number of visits of each action.
        exploration: float32 [M] exploration constant c of each node, in chips.
    """

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        eta: float,
        gamma: float,
        decay: float,
        ceiling: float,
        potential: float | None,
        policy: str = "average",
        mean_bits: int = 64,
        together: int = 1,
        **options: Unpack[SamplingOptions],
    ) -> None:
        """Prepare the solver.

        Args:
            tree: the betting tree of whole hands.
            cards: the buckets that `dealer` deals.
            eta: initial mixing rate.
            gamma: smallest mixing rate.
            decay: decay of the mixing rate with the square root of the visits.
            ceiling: C, the largest exploration constant, in chips.
            potential: k, the weight of the remaining betting potential; None uses `ceiling` everywhere.
            policy: `average` or `greedy`, the policy that `average` returns.
            mean_bits: 32 or 64. Means of 32 bits save a third of the memory, but stop moving after some 10^7 visits of
                an action.
            together: episodes that a thread plays at the same time.
            **options: see `SamplingSolver`.

        Raises:
            PokernetsError: an option is invalid.
        """
        super().__init__(tree, cards, dealer, **options)
        if policy not in POLICIES:
            raise PokernetsError(f"unknown UCT policy '{policy}': choose from {', '.join(POLICIES)}")
        if mean_bits not in (32, 64):
            raise PokernetsError(f"UCT stores means in 32 or 64 bits, not {mean_bits}")
        if together < 1:
            raise PokernetsError("solver.together, the episodes that a thread plays in turns, must be at least 1")
        size, dense = self.sampling.table_size // 2, self.sampling.before_last
        self._table = zeros(size, uct.ACTION64 if mean_bits == 64 else uct.ACTION32, dense)
        self.means: Reals = self._table["mean"]
        self.counts: I32 = self._table["count"]
        self.exploration = exploration(tree, self.sampling, ceiling, potential)
        self._mixing = (eta, gamma, decay)
        self._play_options = (int(self.sampling.nodes["arity"].max()), together)
        self._policy = policy
        name, mixing = "uct" if gamma >= 1 else "smooth_uct", {"eta": eta, "gamma": gamma, "decay": decay}
        bounds = {"ceiling": ceiling, "potential": potential, "policy": policy, "mean_bits": mean_bits}
        self._recorded = {"solver": name, **self._recorded, **mixing, **bounds}

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until a total number of iterations or for some time; see `SamplingSolver.run`.

        Counts have room for 2^31 visits. The run is refused once an action has been counted 2^30 times, and
        `job=blueprint` runs in far shorter stretches than the difference.

        Args:
            iterations: total number of iterations; None for no limit.
            seconds: seconds from now; None for no limit.

        Raises:
            PokernetsError: an action has been counted too often, or neither limit is given.
        """
        if self.iterations >= _MAX_COUNT and self.counts.max() >= _MAX_COUNT:
            raise PokernetsError(
                f"after {self.iterations:,} iterations an action has been counted {self.counts.max():,} times,"
                f" and the 32-bit counter will soon overflow: stop at job.iterations={self.iterations}"
            )
        super().run(iterations=iterations, seconds=seconds)

    @property
    def tables(self) -> Columns:
        """Means and counts [entries], by name."""
        return {"means": self.means, "counts": self.counts}

    def averages(self, nodes: I32) -> Singles:
        """Return the average or the greedy policy at several betting nodes.

        Args:
            nodes: int32 [K] betting nodes of one street and number of actions.

        Returns:
            float32 [K, B, A].
        """
        inner = self.sampling.index[nodes]
        arity = int(self.sampling.nodes["arity"][inner[0]])
        places = self.sampling.starts(inner)[:, :, None] + np.arange(arity)
        counts = self.counts[places]
        if self._policy == "average":
            return normalised(counts)
        means = np.where(counts > 0, self.means[places], -np.inf)
        best = (means == means.max(axis=-1, keepdims=True)) & (counts > 0)
        return normalised(best.astype(np.float32))

    def _play(self, thread: int, done: int, deals: Deals, rng: U64) -> tuple[int, ...]:
        options = (*self._mixing, *self._play_options)
        visits = uct.play_episodes(self.sampling.arrays, self._table, self.exploration, *options, deals, rng)
        return (visits,)


def exploration(tree: BettingTree, sampling: SamplingTree, ceiling: float, potential: float | None) -> Singles:
    """Compute the exploration constant c of every node.

    Args:
        ceiling: C, the largest constant, in chips.
        potential: k, the weight of the remaining betting potential; None uses `ceiling` everywhere.

    Returns:
        float32 [M] constants in chips.
    """
    if potential is None:
        return np.full(len(sampling.nodes), ceiling, dtype=np.float32)
    pot = tree.committed.sum(axis=1)[sampling.origin()]
    return uct.exploration(sampling.nodes, pot, float(ceiling), float(potential))
