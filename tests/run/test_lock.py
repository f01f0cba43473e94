"""Locks against other processes, which end with them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from poker.run.errors import PokernetsError
from poker.run.lock import Claims, alone

_HOLDER = """
import sys
from pathlib import Path
from poker.run.lock import Claims
Claims(Path(sys.argv[1])).take(sys.argv[2], "not free")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(file: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process has the name, until it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, file, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_names_of_another_process_are_refused_until_it_dies(tmp_path: Path) -> None:
    with closing(Claims(tmp_path / "made" / ".lock")) as claims:
        with held(tmp_path / "made" / ".lock", "one"):
            claims.take("two", "two is taken")
            with pytest.raises(PokernetsError, match="one is taken"):
                claims.take("one", "one is taken")
        claims.take("one", "one is taken")
    with held(tmp_path / "made" / ".lock", "one"):
        pass


def test_the_file_goes_with_the_last_claim_and_is_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "made" / ".lock"
    first, second = Claims(file), Claims(file)
    with held(file, "one"):
        first.close()
        assert file.exists()
    Claims(file).close()
    assert list(tmp_path.iterdir()) == [tmp_path / "made"]
    second.take("one", "one is taken")
    assert file.exists()
    second.close()
    Claims(tmp_path / "new" / "folders" / ".lock").close()
    assert list(tmp_path.iterdir()) == [tmp_path / "made"]


def test_a_folder_is_for_one_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(PokernetsError, match="is in use"), alone(tmp_path, "it is in use"):
        pass
    with alone(tmp_path, "it is in use"):
        pass
