"""Values at the depth limit for a solve."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Singles
from poker.run.errors import PokernetsError


@dataclass(frozen=True)
class LeafValues:
    """Fixed values, factored by clusters of hands; the solver still accounts exactly for shared cards.

    Attributes:
        own: the player whose chips the values are.
        own_cluster: int32 [H] cluster of each hand of `own`, -1 for impossible hands.
        opp_cluster: int32 [H] cluster of each hand of the opponent, -1 for impossible hands.
        values: float32 [L, K, C_own, C_opp] net chips of `own` over the whole hand, for each public leaf state and
            continuation. The game is zero-sum.

    Raises:
        PokernetsError: a shape or a value is invalid.
    """

    own: int
    own_cluster: NDArray[np.int32]
    opp_cluster: NDArray[np.int32]
    values: Singles

    def __post_init__(self) -> None:
        """Check the shapes and values."""
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
        """Number of leaf states L."""
        return int(self.values.shape[0])

    @property
    def num_continuations(self) -> int:
        """Number of continuations K."""
        return int(self.values.shape[1])

    def first_continuation(self) -> "LeafValues":
        """Return only continuation 0, the blueprint itself in [DLS]."""
        return replace(self, values=self.values[:, :1])

    def matrices(self, player: int) -> Singles:
        """Return the net chips of `player`, float32 [L, K, C, C'] with own clusters first."""
        return self.values if player == self.own else -self.values.transpose(0, 1, 3, 2)

    def cluster(self, player: int) -> NDArray[np.int32]:
        """Return the cluster of each hand of `player`, int32 [H]."""
        return self.own_cluster if player == self.own else self.opp_cluster
