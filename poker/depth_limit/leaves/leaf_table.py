"""A table of values at the end of the preflop round: every public leaf state times all pairs of hand classes.

[DLS] uses a table before the flop and a net on the flop. Entry [l, own, k, c0, c1] is
`poker.depth_limit.inputs.TARGET`, the mean over boards and over the suits of the hands. There `own` follows the
blueprint and the other player continuation k, and c0 and c1 are the preflop classes (`poker.game.cards.PREFLOP_CLASS`)
of players 0 and 1.

L is the number of leaf states and K of continuations (biased or self-generated,
`poker.depth_limit.continuations.forms`). There are 169 classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import showdown_equity
from poker.depth_limit.continuations.rollout import Continuations, Moments
from poker.depth_limit.inputs import TARGET
from poker.game.cards import PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.kernels.types import I32, I64, Board, Singles
from poker.solvers.blueprint import Blueprint, FirstRound
from poker.store.artifacts import CorruptArtifactError, open_artifact, refuses_by_name
from poker.tree import BettingTree, Kind

KIND = "leaf_table"
NUM_CLASSES = len(PREFLOP_CLASS_SIZE)


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Values at the end of the preflop round, in pots.

    Attributes:
        nodes: int32 [L] nodes of the blueprint's tree.
        values: float32 [L, 2, K, 169, 169] values; float16 in bundles.
        sem: standard errors of the same shape; None in bundles.
    """

    nodes: I32
    values: Singles
    sem: Singles | None = None

    @classmethod
    @refuses_by_name(KIND)
    def load(cls, path: str | Path, blueprint: Blueprint | FirstRound) -> "LeafTable":
        """Open a table.

        Args:
            path: directory of the artifact.
            blueprint: the blueprint that the table must have been made from.

        Raises:
            ArtifactError: the table is missing or damaged, or belongs to another blueprint.
        """
        made_from = {"blueprint": blueprint.fingerprint}
        artifact = open_artifact(path, KIND, config={"target": TARGET}, made_from=made_from)
        nodes = np.array(artifact.array("nodes", (None,), dtypes=(np.int32,), within=(0, len(blueprint.tree))))
        floats, shape = (np.float16, np.float32), (len(nodes), 2, None, NUM_CLASSES, NUM_CLASSES)
        values = artifact.array("values", shape, dtypes=floats)
        if values.shape[2] < 1:
            raise CorruptArtifactError(f"{path} contains no continuation")
        sem = artifact.array("sem", values.shape, dtypes=floats) if "sem" in artifact.arrays else None
        return cls(nodes, values, sem)

    def at(self, node: int) -> Singles:
        """Return the values of one node.

        Args:
            node: a node in `nodes`.

        Returns:
            [2, K, 169, 169] values in pots.

        Raises:
            KeyError: the node is not in the table.
        """
        rows = np.flatnonzero(self.nodes == node)
        if len(rows) == 0:
            raise KeyError(f"node {node} does not end the preflop round")
        return np.asarray(self.values[rows[0]])


def table_bytes(leaves: int, continuations: int) -> int:
    """Return the bytes of `values` and `sem` together.

    Args:
        leaves: number of leaf states L.
        continuations: number of continuations K.
    """
    return 2 * leaves * 2 * continuations * NUM_CLASSES**2 * np.dtype(np.float32).itemsize


def preflop_leaves(tree: BettingTree) -> I32:
    """Return the STREET nodes that end the first round with betting to come.

    Args:
        tree: the blueprint's tree.

    Returns:
        int32 [L] nodes.
    """
    ended = np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == 0))
    bets = [node for node in ended.tolist() if tree.kind[tree.after_deal(node)] == Kind.DECISION]
    return np.array(bets, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class TableEstimate:
    """Estimated values and their standard errors.

    Attributes:
        mean: float32 estimates.
        sem: float32 standard errors of the same shape.
    """

    mean: Singles
    sem: Singles


def blueprint_values(continuations: Continuations, node: int, boards: int, rng: np.random.Generator) -> TableEstimate:
    """Estimate the values of a leaf if both players follow the blueprint.

    One random hand of each class is drawn per board and player. A search for the best of many actions would mistake
    noise for profit, so this needs many boards.

    Args:
        continuations: the blueprint.
        node: node of the leaf.
        boards: number of random boards.

    Returns:
        Values [169, 169] of player 0, in pots.
    """
    moments, policy = Moments((1, 1, NUM_CLASSES, NUM_CLASSES)), continuations.blueprint
    alone = Continuations(policy, [policy])
    for board, hands, equity in _deals(alone, boards, rng):
        values, won, possible, _ = alone.on_boards(node, [board], *hands)
        moments.add(values[:1], (won - equity) * possible, possible)
    mean, sem = moments.result().in_pots(policy.tree.pot(node))
    return TableEstimate(mean[0, 0], sem[0, 0])


def class_values(
    continuations: Continuations, node: int, boards: int, rng: np.random.Generator, base: TableEstimate
) -> TableEstimate:
    """Estimate the values of a leaf under all forms.

    The estimate is `base` plus the difference between each form and the blueprint on the same boards. The difference
    has little variance, so few boards suffice.

    Args:
        continuations: the blueprint and K forms.
        node: node of the leaf.
        boards: number of random boards.
        base: values [169, 169] of the blueprint.

    Returns:
        Values [2, K, 169, 169] in pots.
    """
    moments = Moments((2, continuations.num_forms, NUM_CLASSES, NUM_CLASSES))
    for board, hands, equity in _deals(continuations, boards, rng):
        values, won, possible, own = continuations.on_boards(node, [board], *hands)
        moments.add(values - np.stack([own, -own])[:, None], (won - equity) * possible, possible)
    mean, sem = moments.result().in_pots(continuations.blueprint.tree.pot(node))
    mean += np.stack([base.mean, -base.mean])[:, None]
    return TableEstimate(mean, np.hypot(sem, base.sem))


def _deals(
    continuations: Continuations, boards: int, rng: np.random.Generator
) -> Iterator[tuple[Board, tuple[I64, I64], Singles]]:
    """Iterate over boards with one hand of each class per player, and their preflop equities [169, 169]."""
    rules = continuations.blueprint.rules
    equity = showdown_equity(rules, ())
    for board in sample_boards(rules, (), boards, rng):
        hands = _one_of_each_class(rng), _one_of_each_class(rng)
        yield board, hands, equity[np.ix_(*hands)]


_BY_CLASS = np.argsort(PREFLOP_CLASS, kind="stable")
_CLASS_START = np.cumsum(PREFLOP_CLASS_SIZE) - PREFLOP_CLASS_SIZE


def _one_of_each_class(rng: np.random.Generator) -> I64:
    """Return a uniformly drawn hand of each class [169]."""
    return np.asarray(_BY_CLASS[_CLASS_START + rng.integers(0, PREFLOP_CLASS_SIZE)])
