"""P1's continuations at the end of the first round with their values, made once and kept."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from poker.artifacts import find_artifact, open_artifact
from poker.errors import PokernetsError
from poker.experiments.off_tree_bet.search import Search
from poker.experiments.off_tree_bet.solutions import Solved, now
from poker.experiments.off_tree_bet.spot import OffTreeBet
from poker.search.beliefs import start_ranges
from poker.search.leaves.evaluator import LeafEvaluator
from poker.solvers.continuations.generation import (
    KIND,
    ContinuationSet,
    Progress,
    Solving,
    biased,
    load_set,
    save_sets,
    self_generated,
)
from poker.state import Betting

SELF_GENERATED, BIASED, NET = "self-generated", "biased", "net"


@dataclass(frozen=True)
class ContinuationStore:
    """A store of sets by name; `counts` has the seconds and CPU seconds that each took."""

    spot: OffTreeBet
    blueprint: Solved
    folder: Path
    counts: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def self_generated(
        self, search: Search, count: int, pot_fraction: float, solving: Solving, progress: Progress
    ) -> ContinuationSet:
        """`count` continuations after the bet, where P2 translates it on the flop."""

        def make() -> ContinuationSet:
            play, (menu, p1) = search.leaf_play(), (self.spot.menu, self.spot.p1)
            return self_generated(
                play, menu, p1, count, pot_fraction=pot_fraction, solving=solving, root=search.root, progress=progress
            )

        return self._set(SELF_GENERATED, {"count": count, "pot_fraction": pot_fraction, **asdict(solving)}, make)

    def biased(self, search: Search) -> ContinuationSet:
        """The translated blueprint of P1 and its biased forms."""
        return self._set(BIASED, {}, lambda: biased(search.leaf_play(), self.spot.p1))

    def _set(self, name: str, config: dict[str, Any], make: Callable[[], ContinuationSet]) -> ContinuationSet:
        path, made_from = self.folder / name, {"blueprint": self.blueprint.fingerprint}
        config = {"bet": self.spot.total, **config}
        if find_artifact(path, KIND, config=config, made_from=made_from) is None:
            begin = now()
            made = make()
            seconds, cpu_seconds = (now() - begin).tolist()
            save_sets(path, [made], config, {"seconds": seconds, "cpu_seconds": cpu_seconds}, made_from)
        self.counts[name] = open_artifact(path, KIND, verify=False).counts
        return load_set(path, self.spot.p1)


def predicted(search: Search, leaf: LeafEvaluator) -> ContinuationSet:
    """Values that `leaf`, of the game without the bet, gives the ends of the first round after the bet."""
    spot, paths = search.spot, search.leaf_play().leaves
    ends = [reduce(Betting.apply, path, spot.after_bet) for path in paths]
    values = leaf.values(ends, (), start_ranges(spot.rules), spot.p2)
    if not np.array_equal(values.own_cluster, values.opp_cluster):
        raise PokernetsError("leaf values of the first round group both players' hands alike")
    return ContinuationSet(spot.p1, paths, values.cluster(0), np.ascontiguousarray(values.matrices(0)))
