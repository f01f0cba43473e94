"""Strength beside losses: the match is played with the net as it is then, and the net is trained as without it."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import pytest
from lightning.pytorch import callbacks
from lightning.pytorch.loggers import TensorBoardLogger
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from conf.compose import call, compose
from models.leaf.data import LeafData
from models.leaf.training import train
from models.training.fitting import EpochSeed
from models.training.inference import LEAF_NET, LeafNet
from models.training.mlp import Mlp
from models.training.strength import Match, StrengthMatch
from poker.depth_limit import inputs
from poker.report.estimates import Estimate
from poker.store.artifacts import open_artifact
from tests.models.shards import write_leaf_states


def trained(work: Path, match: Match | None) -> str:
    """Fingerprint of a net after three epochs, with a match after every second one."""
    extra = [] if match is None else [StrengthMatch(match, every=2)]
    trainer: dict[str, Any] = {
        "max_epochs": 3,
        "accelerator": "cpu",
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "logger": partial(TensorBoardLogger, name="tensorboard", version=""),
        "callbacks": [callbacks.ModelCheckpoint(monitor="validation/huber", save_last=True), EpochSeed(1), *extra],
    }
    train(
        net=partial(Mlp, inputs=inputs.SIZE, hidden=[8], outputs=4),
        data=LeafData(str(work / "leaf_states"), batch_rows=256),
        huber_delta=1.0,
        trainer=partial(lightning.Trainer, **trainer),
        threads=1,
        ckpt_path=None,
        find_learning_rate=False,
        compile=False,
        learning_rate=0.01,
        output=str(work / "net"),
        runs=str(work / "runs"),
    )
    return open_artifact(work / "net", LEAF_NET).fingerprint


def test_a_match_is_played_with_the_net_of_the_epoch(tmp_path: Path) -> None:
    seen: list[float] = []

    def match(net: Path) -> Mapping[str, Estimate]:
        np.random.default_rng().random()  # a match may draw as it likes
        seen.append(float(LeafNet(net).values(np.ones((1, inputs.SIZE), np.float32)).sum()))
        return {"a vs b": Estimate(seen[-1], 0.5, 1.0, 9)}

    prints = []
    for name, played in (("with", match), ("without", None)):
        write_leaf_states(tmp_path / name / "leaf_states", rows=1500)
        prints.append(trained(tmp_path / name, played))
    assert prints[0] == prints[1]
    assert len(set(seen)) == len(seen) == 2  # before the first epoch and after the second
    [logs] = (tmp_path / "with" / "runs").glob("leaf_net-*/tensorboard")
    events = EventAccumulator(str(logs))
    events.Reload()
    scalars = events.Scalars("strength/a_vs_b")
    assert [scalar.value for scalar in scalars] == pytest.approx(seen)
    assert scalars[0].step == 0 < scalars[1].step
    assert [scalar.value for scalar in events.Scalars("uncertainty/a_vs_b")] == [0.5, 0.5]


def test_the_match_is_one_of_evaluate(tmp_path: Path) -> None:
    settings = {"agents": "[always_raise,always_call]", "hands": 40, "aivat": "false", "cluster.processes": 1}
    chosen = [f"++callbacks.strength.match.{name}={value}" for name, value in settings.items()]
    config = compose("train", ["model=leaf", "game=kuhn", "strength=match", f"artifacts={tmp_path}", *chosen])
    strength = call(config.callbacks.strength)
    assert isinstance(strength, StrengthMatch)
    [(title, won)] = strength._match(tmp_path / "runs" / "net").items()
    assert title == "always_raise vs always_call"
    assert won.n == 20
    assert (tmp_path / "runs" / "matches" / "kuhn").is_dir()
