"""The betting below one node of a blueprint as arrays, which rollouts and best responses walk.

Q is the number of nodes of the subtree and F of folds among its ends.
"""

from dataclasses import dataclass

import numpy as np

from poker.kernels.sampling import nodes as kernel
from poker.kernels.types import I8, I32, I64, Singles
from poker.solvers.blueprint import Blueprint, action_classes
from poker.tree import Kind


@dataclass(frozen=True)
class Subtree:
    """The betting below one node, in the form that `end_reaches` reads.

    The ends are folds, then showdowns, then links. Links are decisions of later streets at which the subtree was cut.

    Attributes:
        player: [Q] player to act.
        street: [Q] street.
        first: [Q] first child.
        arity: [Q] number of children, 0 for ends.
        row: [Q] first row of the node in the strategy.
        stride: [Q] distance between the rows of consecutive buckets.
        end: [Q] number of the end, -1 for inner nodes.
        action_class: [Q] class of the action into the node.
        fold_value: [F] chips that player 0 wins at each fold.
        stake: chips that the better hand wins at each showdown.
        links: sampling nodes of the links.
    """

    player: I8  # [Q]
    street: I8  # [Q]
    first: I32  # [Q]
    arity: I32  # [Q]
    row: I64  # [Q]
    stride: I64  # [Q]
    end: I32  # [Q]
    action_class: I8  # [Q]
    fold_value: Singles  # [F] chips player 0 wins
    stake: Singles  # chips the better hand wins
    links: I64  # sampling nodes

    @property
    def num_ends(self) -> int:
        """Number of ends Z."""
        return len(self.fold_value) + len(self.stake) + len(self.links)


def subtree(blueprint: Blueprint, node: int, last_street: int | None = None) -> Subtree:
    """Collect the nodes below a betting node in breadth-first order.

    Args:
        node: betting node at the root.
        last_street: last street to include; None for all.
    """
    nodes, tree = blueprint.sampling.nodes, blueprint.tree
    last = blueprint.rules.num_streets if last_street is None else last_street
    order = [np.array([blueprint.sampling.index[node]], dtype=np.int64)]
    first: list[I64] = []
    count = 1
    while len(order[-1]):
        level = nodes[order[-1]]
        arity = np.where(level["street"] <= last, level["arity"], 0).astype(np.int64)
        starts = np.cumsum(arity) - arity
        first.append(count + starts)
        count += int(arity.sum())
        offsets = np.arange(arity.sum()) - np.repeat(starts, arity)
        order.append(np.repeat(nodes["first"][order[-1]].astype(np.int64), arity) + offsets)
    ids = np.concatenate(order)
    rows = nodes[ids]
    kind = rows["kind"]
    folds, showdowns = np.flatnonzero(kind == kernel.FOLD), np.flatnonzero(kind == kernel.SHOWDOWN)
    links = np.flatnonzero((kind == kernel.DECISION) & (rows["street"] > last))
    ends = np.concatenate([folds, showdowns, links])
    end = np.full(len(ids), -1, dtype=np.int32)
    end[ends] = np.arange(len(ends))
    edges = np.zeros(len(nodes), dtype=np.int32)  # the action into each node, skipping street nodes
    acted = np.flatnonzero((tree.parent >= 0) & (tree.kind[np.maximum(tree.parent, 0)] == Kind.DECISION))
    edges[blueprint.sampling.index[acted]] = tree.action[acted]
    return Subtree(
        player=rows["player"].copy(),
        street=rows["street"].copy(),
        first=np.concatenate(first).astype(np.int32),
        arity=np.where(rows["street"] <= last, rows["arity"], 0).astype(np.int32),
        row=rows["row"].astype(np.int64),
        stride=blueprint.sampling.strides[rows["player"], rows["street"]].astype(np.int64),
        end=end,
        action_class=action_classes(edges[ids]),
        fold_value=rows["row"][folds].astype(np.float32),
        stake=rows["row"][showdowns].astype(np.float32),
        links=ids[links],
    )
