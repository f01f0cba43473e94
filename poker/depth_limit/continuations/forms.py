"""Forms of continuations after the depth limit ([DLS] section 4): strategies on a blueprint's tree.

Form 0 is the blueprint. A form contains the strategies of both seats. A table or a label of player `own` uses the
strategy of the other seat. `Biased` and `SelfGenerated` define sets of forms, with these attributes:

- `names` [K] and `config` for manifests;
- `made_from`, the fingerprints of artifacts other than the blueprint;
- `pot_fraction`, the part of the pot that is subtracted from the values of all forms but the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS, Blueprint
from poker.store.artifacts import Artifact, open_artifact, refuses_by_name, write_artifact

KIND = "continuation_forms"


@dataclass(frozen=True)
class Biased:
    """The blueprint and its forms with folds, calls or raises `factor` times as likely.

    Attributes:
        factor: multiplier of the favoured class of action; 10 in [DLS].

    Raises:
        PokernetsError: the factor is not positive.
    """

    factor: float = 10.0
    names: ClassVar[tuple[str, ...]] = CONTINUATIONS
    made_from: ClassVar[dict[str, str]] = {}
    pot_fraction: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Check the factor."""
        if self.factor <= 0:
            raise PokernetsError(f"continuations.factor={self.factor:g} must be above 0")

    @property
    def config(self) -> dict[str, Any]:
        """Names and factor, for manifests."""
        return {"continuations": list(self.names), "bias_factor": self.factor}

    def of(self, blueprint: Blueprint) -> list[Blueprint]:
        """Return the K forms of a blueprint."""
        return [blueprint.biased(kind, self.factor) for kind in CONTINUATIONS]


@dataclass(frozen=True)
class SelfGenerated:
    """The blueprint and the responses that `job=continuations` has stored.

    Attributes:
        path: directory of the artifact.
        size: number of forms K, the blueprint included; None for all.
    """

    path: str
    size: int | None = None

    @property
    def _artifact(self) -> Artifact:
        return _open_forms(self.path, verify=False)

    @property
    def names(self) -> tuple[str, ...]:
        """[K] names of the forms.

        Raises:
            PokernetsError: the artifact has fewer forms than `size`.
        """
        stored: int = self._artifact.config["size"]
        size = stored if self.size is None else self.size
        if not 1 <= size <= stored:
            raise PokernetsError(f"{self.path} has {stored} continuations, but {size} are needed")
        return CONTINUATIONS[0], *(f"response_{k}" for k in range(1, size))

    @property
    def config(self) -> dict[str, Any]:
        """Names, for manifests."""
        return {"continuations": list(self.names)}

    @property
    def made_from(self) -> dict[str, str]:
        """Fingerprint of the artifact."""
        return {"continuations": self._artifact.fingerprint}

    @property
    def pot_fraction(self) -> float:
        """Part of the pot that was subtracted from the value of each response."""
        return float(self._artifact.config["pot_fraction"])

    def of(self, blueprint: Blueprint) -> list[Blueprint]:
        """Return the K forms of a blueprint.

        Args:
            blueprint: the blueprint that the responses were generated from.

        Raises:
            ArtifactError: the artifact is missing or damaged, or belongs to another blueprint.
        """
        made_from = {"blueprint": blueprint.fingerprint}
        artifact = _open_forms(self.path, made_from=made_from)
        return [blueprint, *(blueprint.form(artifact, name) for name in self.names[1:])]


@refuses_by_name(KIND)
def _open_forms(path: str, **options: Any) -> Artifact:
    artifact = open_artifact(path, KIND, **options)
    size, pot_fraction = artifact.config["size"], artifact.config["pot_fraction"]
    if size != 1 + len(artifact.arrays) or not isinstance(pot_fraction, int | float):
        raise ValueError(f"{len(artifact.arrays)} responses, size {size!r}, pot_fraction {pot_fraction!r}")
    return artifact


FormsOf = Biased | SelfGenerated


def save_forms(
    path: str | Path, forms: Sequence[Blueprint], config: Mapping[str, Any], counts: Mapping[str, Any]
) -> None:
    """Write the artifact that `SelfGenerated` reads.

    Args:
        path: directory of the artifact.
        forms: K forms, the blueprint first; only the others are stored.
        config: settings that produced them; `size` is added.
        counts: additional counts for the manifest.
    """
    arrays = {f"response_{k}": form.strategy for k, form in enumerate(forms[1:], 1)}
    made_from = {"blueprint": forms[0].fingerprint}
    write_artifact(path, KIND, config={**config, "size": len(forms)}, arrays=arrays, made_from=made_from, counts=counts)
