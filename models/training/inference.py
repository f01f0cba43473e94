"""Trained leaf nets for agents.

Torch takes seconds to import, so it is imported when a net is loaded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poker.depth_limit import inputs
from poker.run.commands import how_to_replace
from poker.solvers.blueprint import KIND
from poker.store.artifacts import Artifact, MismatchedArtifactError, artifact_exists, open_artifact, refuses_by_name

LEAF_NET = "leaf_net"


def leaf_stamp(continuations: Sequence[str]) -> dict[str, Any]:
    """Return the stamp of a leaf net that this version can load.

    Args:
        continuations: names of the continuations.
    """
    return {"feature_hash": inputs.HASH, "target": inputs.TARGET, "continuations": list(continuations)}


class LeafNet:
    """An exported leaf net, which predicts the value of each continuation to `own`.

    It has the `values` and `grid_values` of `models.leaf.runner.LeafRunner`. Nets of one artifact on one device are
    equal.

    Attributes:
        num_continuations: number of continuations K.
    """

    @refuses_by_name(LEAF_NET)
    def __init__(
        self,
        path: str | Path,
        architectures: Sequence[str] = (),
        device: str = "cpu",
        blueprint: str | Path | None = None,
    ) -> None:
        """Load the net.

        Args:
            path: directory of the artifact.
            architectures: dotted names of classes outside `models` that it may have.
            device: device of `models.leaf.runner.LeafRunner`.
            blueprint: path of the agent's blueprint. A net trained on values of another blueprint is refused.

        Raises:
            ArtifactError: the artifact is missing or damaged, or belongs to another blueprint.
        """
        from models.leaf.runner import LeafRunner  # noqa: PLC0415
        from models.training.export import load_net  # noqa: PLC0415 (torch)

        artifact = open_leaf_net(path, blueprint)
        stamp = leaf_stamp(artifact.config["continuations"])
        net = load_net(path, LEAF_NET, stamp=stamp, architectures=architectures)
        artifact.check_unchanged()
        runner, self._identity = LeafRunner(net, device), (artifact.fingerprint, device)
        self.values, self.grid_values = runner.values, runner.grid_values
        self.num_continuations = runner.num_continuations

    def __eq__(self, other: object) -> bool:
        """Return whether the other net is the same artifact on the same device."""
        return isinstance(other, LeafNet) and self._identity == other._identity

    def __hash__(self) -> int:
        """Return the hash of the artifact and the device."""
        return hash(self._identity)


def open_leaf_net(path: str | Path, blueprint: str | Path | None = None) -> Artifact:
    """Open the artifact of a leaf net without loading the net.

    Args:
        path: directory of the artifact.
        blueprint: path of the blueprint that it must have been trained on; ignored if it is missing. A blueprint in a
            bundle records the fingerprint of the complete one.

    Raises:
        MismatchedArtifactError: the net has other inputs or outputs, or belongs to another blueprint.
        ArtifactError: the artifact is missing or damaged.
    """
    net = open_artifact(path, LEAF_NET, config={"feature_hash": inputs.HASH, "target": inputs.TARGET}, verify=False)
    if blueprint is not None and artifact_exists(blueprint):
        other = open_artifact(blueprint, KIND, verify=False)
        if net.made_from.get("blueprint") not in (None, other.fingerprint, other.made_from.get(f"whole_{KIND}")):
            problem = f"{net.path} was trained on the values of a blueprint other than {blueprint}"
            raise MismatchedArtifactError(problem, how_to_replace(LEAF_NET, net.path))
    return net
