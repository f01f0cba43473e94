"""Runs `python -m data_gen` as a user does, but in this process, and kills it, in its own, as a power cut does."""

import contextlib
import hashlib
import io
import sys
from pathlib import Path
from unittest import mock

from conf.launch import launch, task_of
from tests.killed import ROOT, run_killed


def data_gen(*arguments: object) -> str:
    """What a successful run says."""
    status, said = _run(*arguments)
    assert status == 0, said
    return said


def data_gen_fails(*arguments: object) -> str:
    """The message of a run that ends with status 2 and one line."""
    status, said = _run(*arguments)
    assert status == 2, said
    return said.strip().splitlines()[-1]


def _run(*arguments: object) -> tuple[object, str]:
    """Status and standard error; what is no error of a user is raised."""
    told = ["data_gen/__main__.py", *map(str, arguments)]
    with (
        mock.patch.object(sys, "argv", told),
        contextlib.redirect_stderr(io.StringIO()) as said,
        contextlib.chdir(ROOT),
    ):
        try:
            launch("data_gen", task_of("job"))
        except SystemExit as left:
            return left.code, said.getvalue()
    return 0, said.getvalue()


def data_gen_killed(method: str, *arguments: object) -> None:
    """A run that is killed when `method` has returned for the first time; see `tests.killed`."""
    run_killed(method, 1, "-m", "data_gen", *map(str, arguments))


def digests(folder: Path, pattern: str = "**/*") -> dict[str, str]:
    """SHA-256 by relative path of the files in `folder`; temporary names are left out."""
    files = [file for file in sorted(folder.glob(pattern)) if file.is_file()]
    names = {str(file.relative_to(folder)): file for file in files}
    visible = {name: file for name, file in names.items() if not any(part.startswith(".") for part in Path(name).parts)}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in visible.items()}
