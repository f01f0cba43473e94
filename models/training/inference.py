"""Trained leaf nets for agents. Torch, which takes seconds to import, is imported when a net is loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poker.depth_limit import inputs
from poker.run.commands import how_to_replace
from poker.solvers.blueprint import KIND
from poker.store.artifacts import Artifact, MismatchedArtifactError, artifact_exists, open_artifact, refuses_by_name

LEAF_NET = "leaf_net"


def leaf_stamp(continuations: Sequence[str]) -> dict[str, Any]:
    """Stamp of a leaf net that this version can use, with values of these continuations."""
    return {"feature_hash": inputs.HASH, "target": inputs.TARGET, "continuations": list(continuations)}


class LeafNet:
    """The exported leaf net at `path`: the value of each continuation to the player who owns the features.

    `architectures`: dotted names of net classes outside `models` that may be loaded. A net trained on values of another
    blueprint than the one at `blueprint` is refused. `device` is that of `models.leaf.runner.LeafRunner`, whose
    `values` and `grid_values` it has. Nets of one artifact on one device are equal.
    """

    @refuses_by_name(LEAF_NET)
    def __init__(
        self,
        path: str | Path,
        architectures: Sequence[str] = (),
        device: str = "cpu",
        blueprint: str | Path | None = None,
    ) -> None:
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
        return isinstance(other, LeafNet) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)


def open_leaf_net(path: str | Path, blueprint: str | Path | None = None) -> Artifact:
    """The artifact of a leaf net, refused unless it is of today's features and target and, if both are known, of the
    blueprint; one in a bundle names the whole one."""
    net = open_artifact(path, LEAF_NET, config={"feature_hash": inputs.HASH, "target": inputs.TARGET}, verify=False)
    if blueprint is not None and artifact_exists(blueprint):
        there = open_artifact(blueprint, KIND, verify=False)
        if net.made_from.get("blueprint") not in (None, there.fingerprint, there.made_from.get(f"whole_{KIND}")):
            problem = f"{net.path} was trained on values of another blueprint than {blueprint}"
            raise MismatchedArtifactError(problem, how_to_replace(LEAF_NET, net.path))
    return net
