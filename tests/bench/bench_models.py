"""Rows/s of the leaf net: inference and steps (by turns with plain torch), training with everything around it, and
training beside other programs.

Time is the process's own CPU time, so that other work on the machine does not count; but for `leaf_net_training_busy`,
which is the wall time of training while as many busy loops run as there are cores, over that without them.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch

from conf.compose import compose
from models.leaf.data import LeafData
from models.leaf.module import LeafModule
from models.leaf.runner import CHUNK_ROWS, LeafRunner
from models.training.mlp import Mlp
from models.training.run import multiply_by_onednn, quiet
from poker.depth_limit import inputs
from tests.models.shards import write_leaf_states

HIDDEN = [256, 128, 128, 128]
TURNS = 9


def best(action: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """Least seconds of `repeats` calls, after one to warm up."""
    action()
    seconds = []
    for _ in range(repeats):
        start = clock()
        action()
        seconds.append(clock() - start)
    return min(seconds)


@contextmanager
def busy_machine() -> Iterator[None]:
    """A busy loop for every core."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def inference() -> list[dict[str, Any]]:
    rows = 16 * CHUNK_ROWS
    features = np.random.default_rng(0).random((rows, inputs.SIZE), dtype=np.float32)
    net = Mlp(inputs.SIZE, HIDDEN, 4)
    fast, float32 = (partial(LeafRunner(net, bfloat16=bfloat16).values, features) for bfloat16 in (True, False))
    return _by_turns("leaf_net_inference", rows, fast, float32)


def steps(batch: int) -> list[dict[str, Any]]:
    """Training steps with products of oneDNN, beside steps with torch's own BLAS."""
    net, precision = Mlp(inputs.SIZE, HIDDEN, 4), torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    rows, targets = torch.rand(batch, inputs.SIZE), torch.rand(batch, 4)
    optimizer = torch.optim.AdamW(net.parameters())

    def step(fp32: str) -> None:
        precision.fp32_precision = fp32
        optimizer.zero_grad()
        torch.nn.functional.huber_loss(net(rows), targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return _by_turns(f"leaf_net_steps_of_{batch}", batch, partial(step, "bf16"), partial(step, "none"))


def _by_turns(name: str, rows: int, fast: Callable[[], Any], plain: Callable[[], Any]) -> list[dict[str, Any]]:
    """Rows/s of `fast`, and how many times as fast it is as `plain`: the median over turns, and the extremes."""
    turns = np.array([[best(action, 5) for action in (fast, plain)] for _ in range(TURNS)])
    times = turns[:, 1] / turns[:, 0]
    ratios = {"times": float(np.median(times)), "least": float(times.min()), "most": float(times.max())}
    return [{"name": name, "value": rows / float(np.median(turns[:, 0])), "unit": "rows/s", **ratios}]


def epoch(data: LeafData, accelerator: str = "cpu", precision: Any = None) -> None:
    """Train a new net for one epoch."""
    module = LeafModule(
        Mlp(inputs.SIZE, HIDDEN, 4), torch.nn.HuberLoss(), partial(torch.optim.Adam, lr=1e-3, fused=True)
    )
    trainer = lightning.Trainer(
        accelerator=accelerator,
        devices=1,
        max_epochs=1,
        precision=precision,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        limit_val_batches=0,
    )
    trainer.fit(module, datamodule=data)


def training() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as root:
        write_leaf_states(Path(root), rows=300_000, shards=2)
        data = LeafData(root, epoch_rows=500_000)
        rows = data.epoch_batches * data.config["batch_rows"]
        rates = [{"name": "leaf_net_training", "value": rows / best(partial(epoch, data), 3), "unit": "rows/s"}]
        threads = compose("train", ["model=leaf"]).threads
        if threads is not None:
            torch.set_num_threads(threads)
        free = best(partial(epoch, data), 2, time.perf_counter)
        with busy_machine():
            ratio = best(partial(epoch, data), 2, time.perf_counter) / free
        return [*rates, {"name": "leaf_net_training_busy", "value": ratio, "unit": "times as long"}]


def run() -> list[dict[str, Any]]:
    """One row a figure; the limit of `leaf_net_training_busy` is 3."""
    quiet()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with multiply_by_onednn():
            return inference() + steps(512) + steps(4096) + training()
    finally:
        torch.set_num_threads(threads)
