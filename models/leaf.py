"""`train.py model=leaf`: leaf states in, leaf net out."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from models.export import export_net
from models.fitting import Fitted, TrainerSettings, fit
from models.inference import LEAF_NET, LEAF_STAMP
from models.leaf_data import LeafData
from models.leaf_module import LeafModule
from models.losses import HuberLoss
from models.mlp import Mlp
from poker.artifacts import Artifact, find_artifact, fingerprint_of
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
    module = LeafModule(net, loss, learning_rate, data.label_mean(), figures=True)
    fitted = fit(
        module,
        data,
        directory=directory,
        settings=trainer,
        monitor="validation/huber",
        batch_rows=data.config["batch_rows"],
    )
    counts = _measure(module, data, fitted)
    artifact = export_net(
        output, LEAF_NET, net, stamp=LEAF_STAMP, config=config, made_from=data.made_from, counts=counts
    )
    console.print(_table(counts, output))
    return artifact


def _measure(module: LeafModule, data: LeafData, fitted: Fitted) -> dict[str, Any]:
    """Put the best weights into the module's net and measure them on the test rows."""
    module.load_state_dict(fitted.best)
    fitted.trainer.test(module, datamodule=data, verbose=False)
    return {
        "training_rows": len(data.train_rows),
        "validation_rows": len(data.validation_rows),
        "epochs": fitted.epochs,
        "best_validation_huber": fitted.best_loss,
        "training_rows_per_second": round(fitted.rows_per_second),
        **{name: round(value, 7) for name, value in module.results.items() if name.startswith("test/")},
    }


def _table(counts: dict[str, Any], output: str) -> Table:
    table = Table(title=f"leaf net {output}: Huber loss on held-out states (pots)")
    for name in ("continuation", "huber", "R²"):
        table.add_column(name, justify="left" if name == "continuation" else "right")
    for name in leaf.CONTINUATIONS:
        table.add_row(name, f"{counts[f'test/huber/{name}']:.5f}", f"{counts[f'test/r2/{name}']:.4f}")
    table.add_section()
    table.add_row("all", f"{counts['test/huber']:.5f}", f"{counts['test/r2']:.4f}")
    table.add_row("predicting the mean", f"{counts['test/huber_of_mean']:.5f}", "")
    table.add_row("noise of the labels", f"{counts['test/label_noise']:.5f}", "")
    return table
