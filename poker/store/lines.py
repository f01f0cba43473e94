"""Files that grow by whole lines, so that a kill at any moment loses what was not written and nothing else."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError, disk_full, disk_full_at


@dataclass(frozen=True)
class JsonLines:
    """Rows in a file that grows, one a line; there is no file while there are none."""

    path: Path

    def rows(self) -> Iterator[Any]:
        """All rows but one that a kill cut short."""
        if not self.path.exists():
            return
        try:
            with self.path.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.endswith("\n"):
                        yield json.loads(line)
        except json.JSONDecodeError as error:
            raise PokernetsError(
                f"{self.path} holds a line that is no JSON ({error}): delete the file, what it holds is made anew"
            ) from error

    def append(self, rows: Iterable[Any]) -> None:
        append_lines(self.path, [json.dumps(row) for row in rows])

    def replace(self, rows: Iterable[Any]) -> None:
        lines = [f"{json.dumps(row)}\n" for row in rows]
        if lines:
            write_atomically(self.path, "".join(lines).encode())

    def cut_unfinished(self) -> None:
        """Drops a line that a kill cut short, so that the next one does not begin in it."""
        if self.path.exists():
            data = self.path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(self.path, whole)


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines in one write, so that a kill leaves at most one line unfinished, and an error none."""
    data = "".join(f"{line}\n" for line in lines).encode("ascii")
    if not data:
        return
    with disk_full_at(path), path.open("ab", buffering=0) as file:
        start = file.tell()
        written = file.write(data)
        if written < len(data):
            os.truncate(path, start)
            raise disk_full(path)
