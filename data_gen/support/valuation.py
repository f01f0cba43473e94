"""Values of states by a blueprint and the continuations after it, which several jobs compute."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from poker.abstraction.loading import game_cards
from poker.depth_limit.continuations.forms import FormsOf
from poker.depth_limit.continuations.rollout import Continuations
from poker.game.rules import Rules
from poker.solvers.blueprint import Blueprint

_BLUEPRINT_SECONDS, _FORM_SECONDS = 1.8e-6, 2.8e-6
"""Seconds of CPU for a terminal node and a board. The laptop scale has 41,259 such nodes: 11,400 boards more took the
blueprint 851 s, and 600 boards took three other continuations 209 s (docs/results/costs/laptop.json)."""


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


def table_seconds(ends: float, boards: int, form_boards: int) -> float:
    """Estimate the seconds of CPU of values at leaves.

    Args:
        ends: terminal nodes below the leaves.
        boards: boards on which the blueprint is valued.
        form_boards: boards on which other continuations are valued, summed over the continuations.
    """
    return ends * (_BLUEPRINT_SECONDS * boards + _FORM_SECONDS * form_boards)
