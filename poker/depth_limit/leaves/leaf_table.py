"""Values at the end of the preflop round as a table: every public leaf state of a blueprint times all pairs of classes.

[DLS] uses a table there and a net on the flop. Entry [l, own, k, c0, c1] is `poker.depth_limit.inputs.TARGET`, the mean
over boards and over the suits of the hands, when `own` keeps to the blueprint and the other plays continuation k; c0
and c1 are the preflop classes (`poker.game.cards.PREFLOP_CLASS`) of players 0 and 1.

Symbols: L leaf states, K continuations (biased or self-generated, `poker.depth_limit.continuations.forms`), 169
classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import showdown_equity
from poker.depth_limit.continuations.rollout import Continuations, Moments
from poker.depth_limit.inputs import TARGET
from poker.game.cards import PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.kernels.types import Board, Singles
from poker.solvers.blueprint import Blueprint, FirstRound
from poker.store.artifacts import CorruptArtifactError, open_artifact, refuses_by_name
from poker.tree import BettingTree, Kind

KIND = "leaf_table"
NUM_CLASSES = len(PREFLOP_CLASS_SIZE)


@dataclass(frozen=True, eq=False)
class LeafTable:
    """`values`, standard errors `sem` float32 [L, 2, K, 169, 169]; `nodes` [L] are nodes of the blueprint's tree.

    Tables of bundles have float16 values and no standard errors.
    """

    nodes: NDArray[np.int32]
    values: Singles
    sem: Singles | None = None

    @classmethod
    @refuses_by_name(KIND)
    def load(cls, path: str | Path, blueprint: Blueprint | FirstRound) -> "LeafTable":
        """The table at `path`, refused unless it was made from `blueprint`; K is what it was made with."""
        made_from = {"blueprint": blueprint.fingerprint}
        artifact = open_artifact(path, KIND, config={"target": TARGET}, made_from=made_from)
        nodes = np.array(artifact.array("nodes", (None,), dtypes=(np.int32,), within=(0, len(blueprint.tree))))
        floats, shape = (np.float16, np.float32), (len(nodes), 2, None, NUM_CLASSES, NUM_CLASSES)
        values = artifact.array("values", shape, dtypes=floats)
        if values.shape[2] < 1:
            raise CorruptArtifactError(f"{path} has values of no continuation")
        sem = artifact.array("sem", values.shape, dtypes=floats) if "sem" in artifact.arrays else None
        return cls(nodes, values, sem)

    def at(self, node: int) -> Singles:
        """[2, K, 169, 169] of a node in `nodes`."""
        rows = np.flatnonzero(self.nodes == node)
        if len(rows) == 0:
            raise KeyError(f"node {node} does not end the preflop round")
        return np.asarray(self.values[rows[0]])


def table_bytes(leaves: int, continuations: int) -> int:
    """Bytes of `values` and `sem`."""
    return 2 * leaves * 2 * continuations * NUM_CLASSES**2 * np.dtype(np.float32).itemsize


def preflop_leaves(tree: BettingTree) -> NDArray[np.int32]:
    """[L] STREET nodes that end the first round with betting to come."""
    ended = np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == 0))
    bets = [node for node in ended.tolist() if tree.kind[tree.after_deal(node)] == Kind.DECISION]
    return np.array(bets, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class TableEstimate:
    """`mean` and its standard error `sem`, float32 of the same shape."""

    mean: Singles
    sem: Singles


NOTHING = TableEstimate(*np.zeros((2, NUM_CLASSES, NUM_CLASSES), np.float32))
"""A `base` of zeros for `class_values`, which then gives how forms differ from the blueprint."""


def blueprint_values(continuations: Continuations, node: int, boards: int, rng: np.random.Generator) -> TableEstimate:
    """Value [169, 169] of a leaf to player 0 if both keep to the blueprint, in pots: one random hand a board, class and
    player.

    Noise here looks like profit to a search for the best of many actions, so this wants many boards.
    """
    moments = Moments((1, 1, NUM_CLASSES, NUM_CLASSES))
    for board, hands, equity in _deals(continuations, boards, rng):
        values, won, possible = continuations.of_blueprint(node, board, *hands)
        moments.add(values[None, None], (won - equity) * possible, possible)
    mean, sem = moments.result().in_pots(continuations.blueprint.tree.pot(node))
    return TableEstimate(mean[0, 0], sem[0, 0])


def class_values(
    continuations: Continuations, node: int, boards: int, rng: np.random.Generator, base: TableEstimate
) -> TableEstimate:
    """Values [2, K, 169, 169] of one leaf, in pots: `base`, those of the blueprint, and by how much a form differs from
    it on the same boards, which takes fewer of them."""
    moments = Moments((2, continuations.num_forms, NUM_CLASSES, NUM_CLASSES))
    for board, hands, equity in _deals(continuations, boards, rng):
        values, won, possible = continuations.on_board(node, board, *hands)
        own = continuations.of_blueprint(node, board, *hands)[0]
        moments.add(values - np.stack([own, -own])[:, None], (won - equity) * possible, possible)
    mean, sem = moments.result().in_pots(continuations.blueprint.tree.pot(node))
    mean += np.stack([base.mean, -base.mean])[:, None]
    return TableEstimate(mean, np.hypot(sem, base.sem))


def _deals(
    continuations: Continuations, boards: int, rng: np.random.Generator
) -> Iterator[tuple[Board, tuple[NDArray[np.int64], NDArray[np.int64]], Singles]]:
    """Boards, a hand of each class for either player, and their chances [169, 169] before the flop."""
    rules = continuations.blueprint.rules
    equity = showdown_equity(rules, ())
    for board in sample_boards(rules, (), boards, rng):
        hands = _one_of_each_class(rng), _one_of_each_class(rng)
        yield board, hands, equity[np.ix_(*hands)]


_BY_CLASS = np.argsort(PREFLOP_CLASS, kind="stable")
_FIRST = np.cumsum(PREFLOP_CLASS_SIZE) - PREFLOP_CLASS_SIZE


def _one_of_each_class(rng: np.random.Generator) -> NDArray[np.int64]:
    """[169] a uniformly drawn hand of each class."""
    return np.asarray(_BY_CLASS[_FIRST + rng.integers(0, PREFLOP_CLASS_SIZE)])
