"""`train.py model=leaf`: leaf states in, leaf net out."""

from collections.abc import Sequence
from pathlib import Path

import lightning
import torch
from rich.console import Console
from torch import nn

from models.export import Architecture, describe, load_net
from models.fitting import Goal, TrainerSettings, TrainingOptions, metrics_of_test, quiet, train_on_shards
from models.inference import LEAF_NET, leaf_stamp
from models.leaf_data import LeafColumns, LeafData, held_out, in_order, selected
from models.leaf_module import LeafModule
from models.shuffle import Position
from poker.artifacts import open_artifact
from poker.errors import PokernetsError
from poker.features import leaf
from poker.report import Report, Table


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
            shape = str(list(net.eval()(torch.zeros(2, leaf.SIZE)).shape))
    except (AttributeError, RuntimeError, TypeError) as error:
        shape = " ".join(str(error).split())
    if shape != str([2, outputs]):
        wanted = f"a leaf net takes [n, {leaf.SIZE}] and gives [n, {outputs}]"
        raise PokernetsError(f"{wanted}; for [2, {leaf.SIZE}] {describe(architecture)} gives: {shape}")
    return net.train()


def test(*, net: str, architectures: Sequence[str], path: str, trainer: lightning.Trainer, output: str) -> float:
    """`train.py model=leaf_test`: the trained net's loss on other labels, say of many more rollouts.

    Only states are used whose group was not in training, whichever seed drew them. The report goes to `output`.
    """
    quiet()
    artifact = open_artifact(net, LEAF_NET)
    trained, names, columns = artifact.config["data"], artifact.config["continuations"], LeafColumns(path)
    if list(columns.continuations) != names:
        raise PokernetsError(f"{path} has labels for {list(columns.continuations)}, {net} was trained for {names}")
    rows = selected(columns, path, trained["streets"], trained["seats"])
    split_seed = trained.get("split_seed", trained["seed"])  # nets made before there was one
    rows = rows[held_out(columns.all("group")[rows], trained["validation_share"], split_seed)]
    if not len(rows):
        raise PokernetsError(f"{path}: every group of these states was trained on; make more states")
    module = LeafModule(
        load_net(net, LEAF_NET, stamp=leaf_stamp(names), architectures=architectures),
        artifact.config["huber_delta"],
        artifact.config["learning_rate"],
        torch.tensor(artifact.counts["label_mean"]),
        names,
    )
    losses = {"rows": len(rows), **metrics_of_test(trainer, module, in_order(columns.batches, rows, Position()))}
    record = {**losses, "net": artifact.fingerprint, "states": columns.made_from["leaf_states"]}
    table = _table(losses, names, f"{net}, {path}")
    Report("A leaf net on held-out states", [table], record).write(Path(output), Console(stderr=True))
    return losses["huber"]


def _table(losses: dict[str, float], names: Sequence[str], title: str) -> Table:
    rows: list[list[object]] = [[name, losses[f"huber/{name}"], losses[f"r2/{name}"]] for name in names]
    rows += [["all", losses["huber"], losses["r2"]], ["predicting the mean", losses["huber_of_mean"], None]]
    rows += [["noise of the labels", losses["label_noise"], None]]
    heading = f"Huber loss in pots on {losses['rows']:,} held-out states: {title}"
    return Table(["continuation", "huber", "R²"], rows, heading)
