"""P1's continuations at the end of the first round of the blueprint, with their values, made once and kept."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from poker.artifacts import find_artifact, open_artifact
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
from poker.solvers.continuations.store import KIND, load_set, save_sets

SELF_GENERATED, BIASED = "self-generated", "biased"


class Kept:
    """Sets by name, with what each took: `counts` have seconds and CPU seconds."""

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
        if find_artifact(path, KIND, config=config, made_from=made_from) is None:
            if self._play is None:
                self._play = LeafPlay(self._blueprint.solver(self._threads), self._threads)
            begin = now()
            made = make(self._play)
            seconds, cpu_seconds = (now() - begin).tolist()
            save_sets(path, [made], config, {"seconds": seconds, "cpu_seconds": cpu_seconds}, made_from)
        self.counts[name] = open_artifact(path, KIND, verify=False).counts
        return load_set(path, self._spot.p1)
