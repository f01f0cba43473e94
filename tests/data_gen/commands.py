"""Runs `python -m data_gen` as a user does, but in this process, and kills it, in its own, as a power cut does."""

import hashlib
from pathlib import Path

from tests.commands import run_here
from tests.killed import run_killed


def data_gen(*arguments: object) -> str:
    """Run `python -m data_gen`, which must succeed, and return its stderr."""
    done = run_here("data_gen", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def data_gen_fails(*arguments: object) -> str:
    """The message of a run that ends with status 2 and one line."""
    done = run_here("data_gen", *arguments)
    assert done.returncode == 2, done.stderr
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
