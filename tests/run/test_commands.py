"""An error about a missing artifact names the command that makes it."""

from pathlib import Path

import pytest

from conf.compose import compose
from poker.run.commands import EXPERIMENTS, how_to_make
from tests.cases import cases


@cases
def test_the_command_writes_where_the_artifact_is_missing(path: str, command: str) -> None:
    assert how_to_make("", Path(path)).endswith(f" {command}")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_write_to_a_folder_of_their_name(name: str) -> None:
    job = [] if name == "rival" else ["job=blueprint"]
    assert compose("data_gen", [f"experiment={name}", *job]).outputs == f"artifacts/{name}"
