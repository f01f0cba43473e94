"""`train.py model=leaf`: leaf states in, leaf net out."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch import Tensor

from models.export import export_net
from models.fitting import TrainerSettings, fit
from models.inference import LEAF_NET, LEAF_STAMP, LeafNet, MlpRunner
from models.leaf_data import Columns, LeafData, OrderedLoader, held_out, selected
from models.leaf_module import LeafModule, figures_of
from models.losses import HuberLoss
from models.mlp import Mlp
from models.regression import RegressionSums
from poker.artifacts import Artifact, find_artifact, fingerprint_of, open_artifact, write_atomically
from poker.errors import PokernetsError
from poker.features import leaf


def train(
    *,
    net: Mlp,
    data: LeafData,
    loss: HuberLoss,
    trainer: TrainerSettings,
    learning_rate: float,
    output: str,
    runs: str,
) -> Artifact:
    """Train on the leaf states of `data` and export the best epoch to `output`; one that is there already is kept.

    What is needed to go on after an interruption, and the logs, lie under `runs` in a directory named after
    configuration and data, so an interrupted run is only ever continued by itself.
    """
    if (net.config["inputs"], net.config["outputs"]) != (leaf.SIZE, len(leaf.CONTINUATIONS)):
        raise PokernetsError(
            f"a leaf net has {leaf.SIZE} inputs and {len(leaf.CONTINUATIONS)} outputs, not {net.config}"
        )
    config = {
        "net": net.config,
        "data": data.config,
        "huber_delta": loss.delta,
        "learning_rate": learning_rate,
        "trainer": trainer.config(),
    }
    console = Console(stderr=True)
    found = find_artifact(output, LEAF_NET, config={**config, **LEAF_STAMP}, made_from=data.made_from)
    if found is not None:
        console.print(f"leaf net at {output} is made already, from these states and settings", soft_wrap=True)
        return found
    identity = fingerprint_of({"config": config, "made_from": data.made_from, "stamp": LEAF_STAMP})[:12]
    directory = Path(runs) / f"leaf-{identity}"
    console.print(
        f"training on {len(data.train_rows):,} states, validating on {len(data.validation_rows):,}; "
        f"tensorboard --logdir {directory}",
        soft_wrap=True,
    )
    label_mean = data.label_mean()
    fitted = fit(
        LeafModule(net, loss, learning_rate, label_mean, pictures=True),
        data,
        directory=directory,
        settings=trainer,
        monitor="validation/huber",
        batch_rows=data.config["batch_rows"],
    )
    net.load_state_dict(fitted.part("net"))
    figures = _measure(MlpRunner(net), data.val_dataloader(), loss, label_mean)
    counts = {
        "training_rows": len(data.train_rows),
        "epochs": fitted.epochs,
        "training_rows_per_second": round(fitted.rows_per_second),
        "label_mean": label_mean.tolist(),
        "validation": figures,
    }
    artifact = export_net(
        output, LEAF_NET, net, stamp=LEAF_STAMP, config=config, made_from=data.made_from, counts=counts
    )
    console.print(_table(figures, f"{output}, validation"))
    return artifact


def test(*, net: str, path: str, output: str) -> dict[str, float]:
    """`train.py model=leaf_test`: the trained net against other labels, say of many more rollouts.

    Only states are used whose group was not in training, whichever seed drew them. Figures go to `output` as JSON.
    """
    artifact = open_artifact(net, LEAF_NET)
    trained, columns = artifact.config["data"], Columns(path)
    rows = selected(columns, path, trained["streets"], trained["seats"])
    rows = rows[held_out(columns.all("group")[rows], trained["validation_share"], trained["seed"])]
    if not len(rows):
        raise PokernetsError(f"{path}: every group of these states was trained on; make more states")
    loss, mean = HuberLoss(artifact.config["huber_delta"]), torch.tensor(artifact.counts["label_mean"])
    figures = _measure(LeafNet(net).values, OrderedLoader(columns, rows), loss, mean)
    report = {**figures, "net": artifact.fingerprint, "states": columns.fingerprint}
    write_atomically(Path(output), (json.dumps(report, indent=2) + "\n").encode())
    Console(stderr=True).print(_table(figures, f"{net}, {path}"))
    return figures


def _measure(
    values: Callable[[NDArray[np.float32]], NDArray[np.float32]], batches: OrderedLoader, loss: HuberLoss, mean: Tensor
) -> dict[str, float]:
    """Figures of a net on all `batches`; `mean` [K] is the constant it is compared with."""
    sums = RegressionSums(loss, mean, batches.rows)
    for batch in batches:
        sums.add(torch.from_numpy(values(batch.features.numpy())), batch.labels, batch.label_sem, batch.street)
    return {"rows": batches.rows, **{name: round(value, 7) for name, value in figures_of(sums).items()}}


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
