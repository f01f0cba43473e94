"""Values of states under a blueprint and the continuations after it, which several jobs compute."""

from dataclasses import dataclass
from functools import lru_cache

from poker.abstraction.loading import game_cards
from poker.depth_limit.continuations.forms import FormsOf
from poker.depth_limit.continuations.rollout import Continuations
from poker.game.rules import Rules
from poker.solvers.blueprint import Blueprint

_BLUEPRINT_SECONDS, _FORM_SECONDS = 1.8e-6, 2.8e-6
"""CPU seconds per terminal node and board. The laptop scale has 41,259 such nodes. There the blueprint's values took
851 s on 11,400 more boards, and three other continuations 209 s on 600 boards (docs/results/costs/laptop.json)."""


@dataclass(frozen=True)
class StoredBlueprint:
    """A blueprint on disk, which every process loads once.

    Attributes:
        abstraction: folder of the card buckets.
        blueprint: folder of the blueprint.
    """

    game: Rules
    abstraction: str
    blueprint: str

    @lru_cache(maxsize=1)  # noqa: B019 (one in a process)
    def load(self) -> Blueprint:
        """Load the blueprint, once per process.

        Raises:
            ArtifactError: an artifact is missing or damaged, or they do not fit together.
        """
        return Blueprint.load(self.blueprint, game_cards(self.game, self.abstraction), self.game)


@dataclass(frozen=True)
class Valuation:
    """Values of states: a blueprint and the continuations after it.

    Attributes:
        forms: the continuations.
    """

    stored: StoredBlueprint
    forms: FormsOf

    @property
    def made_from(self) -> dict[str, str]:
        """Fingerprints of the blueprint and the continuations."""
        return {"blueprint": self.stored.load().fingerprint, **self.forms.made_from}

    @lru_cache(maxsize=1)  # noqa: B019 (one in a process, with the subtrees that it has met)
    def continuations(self) -> Continuations:
        """Load the continuations, once per process."""
        policy = self.stored.load()
        return Continuations(policy, self.forms.of(policy))


def table_seconds(ends: float, boards: int, form_boards: int) -> float:
    """Estimate the CPU seconds of values at leaves.

    Args:
        ends: terminal nodes below the leaves.
        boards: boards on which the blueprint is evaluated.
        form_boards: boards on which other continuations are evaluated, summed over the continuations.
    """
    return ends * (_BLUEPRINT_SECONDS * boards + _FORM_SECONDS * form_boards)
