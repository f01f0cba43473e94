"""`train.py model=leaf`: leaf states in, leaf net out."""

from collections.abc import Sequence

import torch
from torch import nn

from models.leaf.data import LeafData
from models.leaf.module import LeafModule
from models.training.export import Architecture, describe
from models.training.fitting import Goal, TrainerSettings, TrainingOptions, train_on_shards
from models.training.inference import LEAF_NET, leaf_stamp
from poker.depth_limit import inputs
from poker.report import Table
from poker.run.errors import PokernetsError


def train(
    *,
    net: Architecture,
    data: LeafData,
    huber_delta: float,
    trainer: TrainerSettings,
    threads: int | None,
    ckpt_path: str | None,
    find_learning_rate: bool,
    compile: bool,
    learning_rate: float,
    output: str,
    runs: str,
) -> float:
    """Train on the leaf states of `data`, export the best epoch to `output` and return its loss; one there is kept."""
    names = data.continuations
    built = _checked(net, len(names))
    label_mean = data.label_mean()
    return train_on_shards(
        lambda: LeafModule(built, huber_delta, learning_rate, label_mean, names),
        data,
        net=net,
        goal=Goal(LEAF_NET, leaf_stamp(names), {"huber_delta": huber_delta, "learning_rate": learning_rate}),
        counts={"label_mean": label_mean.tolist()},
        table=lambda losses: _table(losses, names, f"{output}, validation"),
        options=TrainingOptions(trainer, threads, ckpt_path, find_learning_rate, compile),
        output=output,
        runs=runs,
    )


def _checked(architecture: Architecture, outputs: int) -> nn.Module:
    """The net, if it takes the features of leaf states and gives the values of so many continuations."""
    try:
        net: nn.Module = architecture()
        with torch.no_grad():
            shape = str(list(net.eval()(torch.zeros(2, inputs.SIZE)).shape))
    except (AttributeError, RuntimeError, TypeError) as error:
        shape = " ".join(str(error).split())
    if shape != str([2, outputs]):
        wanted = f"a leaf net takes [n, {inputs.SIZE}] and gives [n, {outputs}]"
        raise PokernetsError(f"{wanted}; for [2, {inputs.SIZE}] {describe(architecture)} gives: {shape}")
    return net.train()


def _table(losses: dict[str, float], names: Sequence[str], title: str) -> Table:
    rows: list[list[object]] = [[name, losses[f"huber/{name}"], losses[f"r2/{name}"]] for name in names]
    rows += [["all", losses["huber"], losses["r2"]], ["predicting the mean", losses["huber_of_mean"], None]]
    rows += [["noise of the labels", losses["label_noise"], None]]
    heading = f"Huber loss in pots on {losses['rows']:,} held-out states: {title}"
    return Table(["continuation", "huber", "R²"], rows, heading)
