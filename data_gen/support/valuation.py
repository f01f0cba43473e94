"""Values of states by a blueprint and the continuations after it, which several jobs compute."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from poker.abstraction.buckets import game_cards
from poker.depth_limit.continuations.forms import FormsOf
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.leaves.leaf_table import NOTHING, blueprint_values, class_values
from poker.game.rules import Rules
from poker.solvers.blueprint import Blueprint


@dataclass(frozen=True)
class StoredBlueprint:
    """A blueprint on disk, which every process loads once."""

    game: Rules
    abstraction: str
    blueprint: str

    @property
    def inputs(self) -> tuple[Path, ...]:
        return Path(self.abstraction), Path(self.blueprint)

    @lru_cache(maxsize=1)  # noqa: B019 (one in a process)
    def load(self) -> Blueprint:
        return Blueprint.load(self.blueprint, game_cards(self.game, self.abstraction), self.game)


@dataclass(frozen=True)
class Valuation:
    """Values of states: a blueprint and the continuations after it."""

    stored: StoredBlueprint
    forms: FormsOf

    @property
    def inputs(self) -> tuple[Path, ...]:
        return (*self.stored.inputs, *self.forms.inputs)

    @property
    def made_from(self) -> dict[str, str]:
        return {"blueprint": self.stored.load().fingerprint, **self.forms.made_from}

    @lru_cache(maxsize=1)  # noqa: B019 (one in a process, with the subtrees that it has met)
    def continuations(self) -> Continuations:
        policy = self.stored.load()
        return Continuations(policy, self.forms.of(policy))


def trial_values(continuations: Continuations, nodes: Iterable[int], forms: bool, number: int, boards: int) -> None:
    """Value leaves on `boards` boards for a trial of the cost: by the blueprint, or by the other `forms`."""
    rng = np.random.default_rng(number)
    for node in nodes:
        if forms:
            class_values(continuations, int(node), boards, rng, NOTHING)
        else:
            blueprint_values(continuations, int(node), boards, rng)
