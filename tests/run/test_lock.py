"""Locks against other processes, which end with them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from poker.run.errors import PokernetsError
from poker.run.lock import alone

_HOLDER = """
import sys
from pathlib import Path
from poker.run.lock import alone
with alone(Path(sys.argv[1]), "not free", sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process has the name, until it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, folder, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_names_of_another_process_are_refused_until_it_dies(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with (
        held(made, "one"),
        alone(made, "two is taken", "two"),
        pytest.raises(PokernetsError, match="one is taken"),
        alone(made, "one is taken", "one"),
    ):
        pass
    with alone(made, "one is taken", "one"), alone(made, "it is taken"):
        pass
    with held(made, "one"):
        pass


def test_a_folder_is_for_one_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(PokernetsError, match="is in use"), alone(tmp_path, "it is in use"):
        pass
    with alone(tmp_path, "it is in use"):
        pass
