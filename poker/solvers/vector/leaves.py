"""Values at the depth limit as a solve takes them: fixed, or asked for again as the ranges of the solve change."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Singles
from poker.run.errors import PokernetsError


@dataclass(frozen=True)
class LeafValues:
    """Fixed values, factored by clusters of hands; card removal between the two hands stays exact.

    `values` float32[L, K, C_own, C_opp]: net chips of player `own` over the whole hand, for each public leaf state
    and continuation; the game is zero-sum. Clusters are int32[H], -1 for hands that cannot be held."""

    own: int
    own_cluster: NDArray[np.int32]
    opp_cluster: NDArray[np.int32]
    values: Singles

    def __post_init__(self) -> None:
        if self.own not in (0, 1) or self.values.ndim != 4:
            raise PokernetsError("leaf values: `own` is player 0 or 1 and `values` has the shape [L, K, C_own, C_opp]")
        for name, cluster, number in (
            ("own_cluster", self.own_cluster, self.values.shape[2]),
            ("opp_cluster", self.opp_cluster, self.values.shape[3]),
        ):
            if cluster.ndim != 1 or cluster.max(initial=-1) >= number:
                raise PokernetsError(f"leaf values: `{name}` must be [H] with clusters below {number}")
        if not np.isfinite(self.values).all():
            raise PokernetsError("leaf values: some values are not finite")

    @property
    def num_leaves(self) -> int:
        return int(self.values.shape[0])

    @property
    def num_continuations(self) -> int:
        return int(self.values.shape[1])

    def first_continuation(self) -> "LeafValues":
        """Only continuation 0, the blueprint itself in [DLS]."""
        return replace(self, values=self.values[:, :1])

    def matrices(self, player: int) -> Singles:
        """[L, K, C, C']: net chips of `player`, own clusters first."""
        return self.values if player == self.own else -self.values.transpose(0, 1, 3, 2)

    def cluster(self, player: int) -> NDArray[np.int32]:
        return self.own_cluster if player == self.own else self.opp_cluster


@dataclass(frozen=True)
class AskedLeaves:
    """Values that depend on the ranges that reach the leaf states, in a tree that ends with the root's street.

    `ask` takes the ranges [L, 2, H] that reach the leaves and gives zero-sum chips of each hand [L, 2, H], the opponent
    holding a compatible hand of the range. It is asked before the first iteration and after every `every` of them, with
    the ranges of the iteration to come, as in CFR-D (Burch et al. 2014); with those of the average strategies a solve
    need not converge.
    """

    num_leaves: int
    ask: Callable[[Singles], Singles]
    every: int
