"""`train.py model=leaf`: leaf states in, leaf net out."""

import json
from collections.abc import Sequence
from pathlib import Path

import lightning
import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from models.export import Architecture, describe, export_net, load_net
from models.fitting import TrainerSettings, figures_of_test, fit, quiet, recipe, rows_per_second
from models.inference import LEAF_NET, LEAF_STAMP, OUTPUTS
from models.leaf_data import Columns, LeafData, OrderedLoader, held_out, selected
from models.leaf_module import LeafModule
from poker.artifacts import find_artifact, fingerprint_of, open_artifact, write_atomically
from poker.errors import PokernetsError
from poker.features import leaf


def train(
    *,
    net: Architecture,
    data: LeafData,
    huber_delta: float,
    trainer: TrainerSettings,
    threads: int | None,
    learning_rate: float,
    output: str,
    runs: str,
) -> float:
    """Train on the leaf states of `data`, export the best epoch to `output` and return its loss; what is there is kept.

    What is needed to go on after an interruption, and the logs, lie under `runs` in a directory named after
    configuration and data, so an interrupted run is only ever continued by itself.
    """
    config = {
        "net": describe(net),
        "data": data.config,
        "huber_delta": huber_delta,
        "learning_rate": learning_rate,
        "trainer": recipe(trainer),
    }
    console = Console(stderr=True)
    found = find_artifact(output, LEAF_NET, config={**config, **LEAF_STAMP}, made_from=data.made_from)
    if found is not None:
        console.print(f"leaf net at {output} is made already, from these states and settings", soft_wrap=True)
        return float(found.counts["validation"]["huber"])
    identity = fingerprint_of({"config": config, "made_from": data.made_from, "stamp": LEAF_STAMP})[:12]
    directory = Path(runs) / f"leaf-{identity}"
    console.print(
        f"training on {len(data.train_rows):,} states, validating on {len(data.validation_rows):,}; "
        f"tensorboard --logdir {directory}",
        soft_wrap=True,
    )
    label_mean = data.label_mean()
    module = LeafModule(_checked(net), huber_delta, learning_rate, label_mean)
    fitted = fit(module, data, directory=directory, trainer=trainer, threads=threads)
    rate = rows_per_second(fitted)
    figures = {"rows": len(data.validation_rows), **figures_of_test(fitted, module, data.val_dataloader())}
    counts = {
        "training_rows": len(data.train_rows),
        "epochs": fitted.current_epoch,
        "training_rows_per_second": rate,
        "label_mean": label_mean.tolist(),
        "validation": figures,
    }
    if fitted.is_global_zero:
        made_from = data.made_from
        export_net(
            output, LEAF_NET, net, module.net, stamp=LEAF_STAMP, config=config, made_from=made_from, counts=counts
        )
        console.print(_table(figures, f"{output}, validation"))
    return figures["huber"]


def _checked(architecture: Architecture) -> nn.Module:
    """The net, if it takes the features of leaf states and gives the values of continuations."""
    try:
        net: nn.Module = architecture()
        with torch.no_grad():
            found = str(list(net(torch.zeros(2, leaf.SIZE)).shape))
    except (AttributeError, RuntimeError, TypeError) as error:
        found = " ".join(str(error).split())
    if found != str([2, OUTPUTS]):
        wanted = f"a leaf net takes [n, {leaf.SIZE}] and gives [n, {OUTPUTS}]"
        raise PokernetsError(f"{wanted}; for [2, {leaf.SIZE}] {describe(architecture)} gives: {found}")
    return net


def test(*, net: str, architectures: Sequence[str], path: str, trainer: lightning.Trainer, output: str) -> float:
    """`train.py model=leaf_test`: the trained net's loss on other labels, say of many more rollouts.

    Only states are used whose group was not in training, whichever seed drew them. Figures go to `output` as JSON.
    """
    quiet()
    artifact = open_artifact(net, LEAF_NET)
    trained, columns = artifact.config["data"], Columns(path)
    rows = selected(columns, path, trained["streets"], trained["seats"])
    rows = rows[held_out(columns.all("group")[rows], trained["validation_share"], trained["seed"])]
    if not len(rows):
        raise PokernetsError(f"{path}: every group of these states was trained on; make more states")
    module = LeafModule(
        load_net(net, LEAF_NET, stamp=LEAF_STAMP, architectures=architectures),
        artifact.config["huber_delta"],
        artifact.config["learning_rate"],
        torch.tensor(artifact.counts["label_mean"]),
    )
    figures = {"rows": len(rows), **figures_of_test(trainer, module, OrderedLoader(columns, rows))}
    report = {**figures, "net": artifact.fingerprint, "states": columns.fingerprint}
    write_atomically(Path(output), (json.dumps(report, indent=2) + "\n").encode())
    Console(stderr=True).print(_table(figures, f"{net}, {path}"))
    return figures["huber"]


def _table(figures: dict[str, float], title: str) -> Table:
    table = Table(title=f"Huber loss in pots on {figures['rows']:,} held-out states: {title}")
    for name in ("continuation", "huber", "R²"):
        table.add_column(name, justify="left" if name == "continuation" else "right")
    for name in leaf.CONTINUATIONS:
        table.add_row(name, f"{figures[f'huber/{name}']:.5f}", f"{figures[f'r2/{name}']:.4f}")
    table.add_section()
    table.add_row("all", f"{figures['huber']:.5f}", f"{figures['r2']:.4f}")
    table.add_row("predicting the mean", f"{figures['huber_of_mean']:.5f}", "")
    table.add_row("noise of the labels", f"{figures['label_noise']:.5f}", "")
    return table
