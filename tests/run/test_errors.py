"""Errors of other people's code, and of missing artifacts: which of it is the user's own, and which command helps."""

from pathlib import Path

import pytest

from conf.compose import compose
from poker.run.commands import EXPERIMENTS, how_to_make
from poker.run.errors import of_user_code
from tests.cases import cases


@pytest.mark.parametrize("folder", ["lib64/python3.11/site-packages", "local/lib/python3/dist-packages"])
def test_installed_packages_are_not_the_users_code(tmp_path: Path, folder: str) -> None:
    file = tmp_path / folder / "library.py"
    file.parent.mkdir(parents=True)
    file.write_text("raise ValueError('no idea')\n")
    with pytest.raises(ValueError, match="no idea") as raised:
        exec(compile(file.read_text(), file, "exec"))
    assert f"no idea ({__file__}, line " in of_user_code(raised.value)


@cases
def test_the_command_writes_where_the_artifact_is_missing(path: str, command: str) -> None:
    assert how_to_make("", Path(path)).endswith(f" {command}")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_write_to_a_folder_of_their_name(name: str) -> None:
    job = [] if name == "rival" else ["job=blueprint"]
    assert compose("data_gen", [f"experiment={name}", *job]).outputs == f"artifacts/{name}"
