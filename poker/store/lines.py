"""Files to which whole lines are appended, so that a killed process loses at most the line being written."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError, disk_full, disk_full_at


@dataclass(frozen=True)
class JsonLines:
    """A file with one JSON row per line; it does not exist until the first row is written.

    Attributes:
        path: path of the file.
    """

    path: Path

    def rows(self, read: Callable[[Any], Any] = lambda row: row) -> Iterator[Any]:
        """Yield all rows, except a last line without its end.

        Args:
            read: converts a row; its errors mean that the line is damaged.

        Raises:
            PokernetsError: a complete line is not JSON, or not such a row.
        """
        if not self.path.exists():
            return
        try:
            with self.path.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.endswith("\n"):
                        yield read(json.loads(line))
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            what = "JSON" if isinstance(error, json.JSONDecodeError) else "a row of such a file"
            raise PokernetsError(
                f"{self.path} has a line that is not {what} ({error}): delete the file, and it is computed again"
            ) from error

    def append(self, rows: Iterable[Any]) -> None:
        """Append rows at the end of the file."""
        append_lines(self.path, [json.dumps(row) for row in rows])

    def replace(self, rows: Iterable[Any]) -> None:
        """Replace the whole file with these rows atomically; without rows the file is left as it is."""
        lines = [f"{json.dumps(row)}\n" for row in rows]
        if lines:
            write_atomically(self.path, "".join(lines).encode())

    def cut_unfinished(self) -> None:
        """Cut off an incomplete last line, so that the next row starts on a line of its own."""
        if self.path.exists():
            data = self.path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(self.path, whole)


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines in one write.

    A killed process leaves at most one incomplete line. After an error the file is as it was before.

    Raises:
        OSError: the disk is full.
    """
    data = "".join(f"{line}\n" for line in lines).encode("ascii")
    if not data:
        return
    with disk_full_at(path), path.open("ab", buffering=0) as file:
        start = file.tell()
        written = file.write(data)
        if written < len(data):
            os.truncate(path, start)
            raise disk_full(path)
