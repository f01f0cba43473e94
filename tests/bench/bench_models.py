"""Rows/s of the leaf net on one thread: inference, and training with everything around it.

Time is the thread's own CPU time, so that other work on the machine does not count.
"""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch

from models.fitting import quiet
from models.inference import CHUNK_ROWS, MlpRunner
from models.leaf_data import LeafData
from models.leaf_module import LeafModule
from models.losses import HuberLoss
from models.mlp import Mlp
from poker.features import leaf
from tests.models.shards import write_leaf_states

HIDDEN = [256, 128, 128, 128]


def best(action: Callable[[], Any], repeats: int) -> float:
    """Least CPU seconds of `repeats` calls, after one to warm up."""
    action()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def inference() -> list[dict[str, Any]]:
    rows = 16 * CHUNK_ROWS
    features = np.random.default_rng(0).random((rows, leaf.SIZE), dtype=np.float32)
    net = Mlp(leaf.SIZE, HIDDEN, 4)
    results = []
    for backend in ("auto", "torch"):
        run = MlpRunner(net, backend)
        rate = rows / best(partial(run, features), 10)
        results.append(
            {"name": f"leaf_net_inference_{backend}", "value": rate, "unit": "rows/s", "backend": run.backend}
        )
    return results


def training() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as root:
        write_leaf_states(Path(root), rows=300_000, shards=2)
        data = LeafData(root, epoch_rows=500_000)
        module = LeafModule(Mlp(leaf.SIZE, HIDDEN, 4), HuberLoss(), 1e-3, data.label_mean(), pictures=False)

        def epoch() -> None:
            trainer = lightning.Trainer(
                accelerator="cpu",
                max_epochs=1,
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                limit_val_batches=0,
            )
            trainer.fit(module, datamodule=data)

        rows = data.epoch_batches * data.config["batch_rows"]
        return [{"name": "leaf_net_training", "value": rows / best(epoch, 3), "unit": "rows/s"}]


def run() -> list[dict[str, Any]]:
    """One row a figure."""
    quiet()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return inference() + training()
    finally:
        torch.set_num_threads(threads)
