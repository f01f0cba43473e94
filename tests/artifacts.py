"""Small artifacts of heads-up hold'em: a blueprint that always calls, its leaf table, and a leaf net."""

from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from models.training.export import Architecture, export_net
from models.training.inference import LEAF_NET, leaf_stamp
from models.training.mlp import Mlp
from poker.abstraction.buckets import CardAbstraction
from poker.depth_limit import inputs
from poker.depth_limit.leaves.leaf_table import KIND, preflop_leaves
from poker.game.betting import Betting
from poker.solvers.blueprint import CONTINUATIONS, FirstRound, always_call
from poker.store.artifacts import write_artifact
from poker.tree import BetMenu, build_tree
from tests.games import HEADS_UP

SMALL_MLP = Architecture(Mlp, inputs=inputs.SIZE, hidden=[8], outputs=4, seed=1)


def write_leaf_net(path: Path, architecture: Any = SMALL_MLP, net: nn.Module | None = None, **config: Any) -> None:
    net, stamp = net or architecture(), leaf_stamp(CONTINUATIONS)
    export_net(path, LEAF_NET, architecture, net, stamp=stamp, config=config, made_from={}, counts={})


def write_blueprint(folder: Path, menu: BetMenu, cards: CardAbstraction, **config: Any) -> None:
    """Write `folder/blueprint`; its tree is one that the rules alone do not give."""
    always_call(build_tree(Betting.start(HEADS_UP), menu), cards).save(folder / "blueprint", config, {})


def leaves_of(folder: Path) -> np.ndarray[Any, Any]:
    """Return the preflop leaves of `folder/blueprint`, [L]."""
    return preflop_leaves(FirstRound.load(folder / "blueprint").tree)


def write_leaf_table(folder: Path, values: np.ndarray[Any, Any] | None = None, **config: Any) -> None:
    """Write `folder/leaf_table` for `folder/blueprint`; by default all values are 0, without standard errors."""
    nodes = leaves_of(folder)
    arrays = {"nodes": nodes, "values": np.zeros((len(nodes), 2, 4, 169, 169), np.float16)}
    if values is not None:
        arrays |= {"values": values.astype(np.float32), "sem": np.ones_like(values, np.float32)}
    made_from = {"blueprint": FirstRound.load(folder / "blueprint").fingerprint}
    config = {"target": inputs.TARGET, **config}
    write_artifact(folder / "leaf_table", KIND, config=config, arrays=arrays, made_from=made_from)
