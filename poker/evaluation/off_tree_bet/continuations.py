"""P1's continuations at the end of the first round of the blueprint, with their values, made once and kept."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from poker.artifacts import Artifact, find_artifact, write_artifact
from poker.evaluation.off_tree_bet.solutions import Solved, now
from poker.evaluation.off_tree_bet.spot import OffTreeBet
from poker.solvers.continuations.generation import (
    ContinuationSet,
    Progress,
    Remedies,
    Solving,
    biased,
    self_generated,
)
from poker.solvers.continuations.leaf_play import LeafPlay

KIND = "continuation_values"
SELF_GENERATED, BIASED = "self-generated", "biased"


class Kept:
    """Sets by name, with what each took: `counts` have seconds, CPU seconds and the steps of the generation."""

    def __init__(self, spot: OffTreeBet, blueprint: Solved, folder: Path, threads: int) -> None:
        self._spot = spot
        self._blueprint = blueprint
        self._folder = folder
        self._threads = threads
        self._play: LeafPlay | None = None
        self.counts: dict[str, Mapping[str, Any]] = {}

    def self_generated(self, count: int, remedies: Remedies, solving: Solving, progress: Progress) -> ContinuationSet:
        """`count` continuations of P1."""

        def make(play: LeafPlay) -> ContinuationSet:
            return self_generated(
                play,
                self._spot.menu,
                self._spot.p1,
                count,
                remedies=remedies,
                solving=solving,
                progress=progress,
            )

        return self._set(SELF_GENERATED, {"count": count, **asdict(remedies), **asdict(solving)}, make)

    def biased(self) -> ContinuationSet:
        """P1's blueprint and its biased forms."""
        return self._set(BIASED, {}, lambda play: biased(play, self._spot.p1))

    def _set(self, name: str, config: dict[str, Any], make: Callable[[LeafPlay], ContinuationSet]) -> ContinuationSet:
        path, made_from = self._folder / name, {"blueprint": self._blueprint.fingerprint}
        found = find_artifact(path, KIND, config=config, made_from=made_from)
        if found is None:
            if self._play is None:
                self._play = LeafPlay(self._blueprint.solver(self._threads), self._threads)
            begin = now()
            made = make(self._play)
            seconds, cpu_seconds = (now() - begin).tolist()
            counts = {"seconds": seconds, "cpu_seconds": cpu_seconds, "steps": [asdict(step) for step in made.steps]}
            leaves = np.array([" ".join(map(str, path)) for path in made.leaves])
            arrays = {"values": made.values, "clusters": made.clusters, "leaves": leaves}
            found = write_artifact(path, KIND, config=config, arrays=arrays, made_from=made_from, counts=counts)
        self.counts[name] = found.counts
        return self._read(found)

    def _read(self, found: Artifact) -> ContinuationSet:
        leaves = tuple(tuple(map(int, path.split())) for path in found.arrays["leaves"].tolist())
        values, clusters = np.array(found.arrays["values"]), np.array(found.arrays["clusters"])
        return ContinuationSet(self._spot.p1, leaves, clusters, values)
