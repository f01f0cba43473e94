"""`train.py model=leaf`: leaf states in, leaf net out."""

from collections.abc import Sequence

import torch
from torch import nn

from models.leaf.data import LeafData
from models.leaf.module import LeafModule
from models.training.export import Architecture, describe
from models.training.fitting import (
    Goal,
    Trained,
    TrainerSettings,
    TrainingOptions,
    TrainingRun,
    console,
    fit,
    keep_or_train,
    seed_everything,
    validation_metrics,
)
from models.training.inference import LEAF_NET, leaf_stamp
from poker.depth_limit import inputs
from poker.report import Table
from poker.run.errors import PokernetsError, of_user_code


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
    seed: int,
) -> float:
    """Train on the leaf states of `data`, export the best epoch to `output` and return its loss; one there is kept."""
    seed_everything(seed)
    names, label_mean = data.continuations, data.label_mean()
    built = _checked(net, len(names))
    options = TrainingOptions(trainer, threads, ckpt_path, find_learning_rate, compile)

    def learn(run: TrainingRun) -> Trained:
        console().print(data.summary, soft_wrap=True, markup=False)
        module = LeafModule(built, huber_delta, learning_rate, label_mean, names)
        fitted = fit(module, data, run=run, options=options)
        losses = {"rows": len(data.validation_rows), **validation_metrics(fitted, module, data.val_dataloader())}
        if fitted.is_global_zero and not fitted.fast_dev_run:  # type: ignore[attr-defined]
            _table(losses, names, f"{output}, validation").print(console())
        counts = {"training_rows": len(data.train_rows), "epochs": fitted.current_epoch}
        return fitted, built, {**counts, "label_mean": label_mean.tolist(), "validation": losses}

    config = {"data": data.config, "huber_delta": huber_delta, "learning_rate": learning_rate, **options.config}
    goal = Goal(LEAF_NET, leaf_stamp(names), config, {**data.made_from, **options.made_from})
    return float(keep_or_train(learn, net, goal, output, runs)["validation"]["huber"])


def _checked(architecture: Architecture, outputs: int) -> nn.Module:
    """The net, if it takes the features of leaf states and gives the values of so many continuations."""
    try:
        net: nn.Module = architecture()
        with torch.no_grad():
            shape = str(list(net.eval()(torch.zeros(2, inputs.SIZE)).shape))
    except (AttributeError, RuntimeError, TypeError) as error:
        shape = of_user_code(error) or " ".join(str(error).split())
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
