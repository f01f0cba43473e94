"""An error about a missing artifact names the command that makes it."""

from pathlib import Path

import pytest

from conf.compose import compose
from poker.run.commands import EXPERIMENTS, how_to_make


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("artifacts/demo/leaf_net", "model=leaf"),
        ("artifacts/laptop/leaf_net", "model=leaf scale=laptop"),
        ("artifacts/laptop_6p/blueprint", "job=blueprint scale=laptop game=holdem_nolimit_6p"),
        ("artifacts/rival/abstraction", "job=abstraction experiment=rival"),
        ("artifacts/demo/nolimit/opponent_net/hand", "model=opponent net=hand artifacts=artifacts/demo/nolimit"),
        ("/disk/my own/leaf_states/shard-00003", "job=leaf_states 'artifacts=\"/disk/my own\"'"),
        ("artifacts/demo/uct", "job=blueprint solver=uct job.output=artifacts/demo/uct"),
        ("laptop.bundle/uct", "job=blueprint solver=uct job.output=artifacts/laptop/uct scale=laptop"),
    ],
)  # fmt: skip
def test_the_command_writes_where_the_artifact_is_missing(path: str, command: str) -> None:
    assert how_to_make("", Path(path)).endswith(f" {command}")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_write_to_a_folder_of_their_name(name: str) -> None:
    job = [] if name == "rival" else ["job=blueprint"]
    assert compose("data_gen", [f"experiment={name}", *job]).outputs == f"artifacts/{name}"
