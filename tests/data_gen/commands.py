"""Runs `python -m data_gen` as a user does, and kills it as a power cut does."""

import hashlib
import subprocess
import sys
from pathlib import Path

from tests.killed import run_killed

ROOT = Path(__file__).parents[2]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "data_gen", *map(str, arguments)]


def data_gen(*arguments: object) -> str:
    """What a successful run says."""
    done = subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def data_gen_fails(*arguments: object) -> str:
    """The message of a run that ends with status 2 and one line."""
    done = subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def data_gen_killed(method: str, *arguments: object) -> None:
    """A run that is killed when `method` has returned for the first time; see `tests.killed`."""
    run_killed(method, 1, "-m", "data_gen", *map(str, arguments))


def digests(folder: Path, pattern: str = "**/*") -> dict[str, str]:
    """SHA-256 by relative path of the files in `folder`; temporary names are left out."""
    files = [file for file in sorted(folder.glob(pattern)) if file.is_file()]
    names = {str(file.relative_to(folder)): file for file in files}
    visible = {name: file for name, file in names.items() if not any(part.startswith(".") for part in Path(name).parts)}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in visible.items()}
