"""Spots and ranges that a visitor saves by name and opens again."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from nicegui import ui

from poker.run.atomic import write_atomically
from poker.run.errors import printable
from poker.run.limits import LimitError, check_length, parse_json
from poker.studio.pages.elements import notices, row

_MOST_CHARACTERS = 1 << 20
"""Most characters of a file of saved values."""
_TYPES = {"spot": dict, "range": str}
"""Types of the kinds of values in JSON."""


class Shelf:
    """A row of elements that saves a value by name in a JSON file, opens and deletes it.

    A damaged file is renamed, not overwritten, and a notice says so.

    Args:
        kind: name of the kind of value: spot or range.
        value: returns the value to save.
        show: shows a value that is opened.
    """

    def __init__(self, file: Path, kind: str, value: Callable[[], Any], show: Callable[[Any], object]) -> None:
        """Build the elements."""
        self._file, self._kind, self._value, self._show = file, kind, value, show
        with row(f"Saved {kind}s"):
            self._choice = ui.select([], label=f"Saved {kind}s", on_change=self._open).props("outlined dense")
            self._name = ui.input(f"Name of the {kind}").props("outlined dense maxlength=60").classes("name")
            ui.button("Save", on_click=self._save).props("flat dense no-caps")
            ui.button("Delete", on_click=self._delete).props("flat dense no-caps")
        with notices():
            self._choice.set_options(sorted(self._saved()))

    def _saved(self) -> dict[str, Any]:
        """Return the saved values by name; a damaged file is renamed."""
        try:
            saved = parse_json(self._file.read_bytes() if self._file.exists() else "{}")
            if not isinstance(saved, dict) or any(type(value) is not _TYPES[self._kind] for value in saved.values()):
                raise ValueError(f"expected {self._kind}s by name")
        except (LimitError, ValueError) as error:
            names = (self._file.with_suffix(f".damaged-{number}.json") for number in count(1))
            aside = next(name for name in names if not name.exists())
            self._file.rename(aside)
            ui.notify(f"{self._file} is damaged ({error}); it was renamed to {aside.name}", type="warning")
            return {}
        return saved

    def _open(self) -> None:
        with notices():
            name, saved = self._choice.value, self._saved()
            if name in saved:
                self._name.set_value(name)
                self._show(saved[name])
                self._choice.set_value(None)  # so that the same name can be chosen again

    def _save(self) -> None:
        with notices():
            self._write(self._saved() | {self._title: self._value()})

    def _delete(self) -> None:
        with notices():
            saved = self._saved()
            saved.pop(self._title, None)
            self._write(saved)

    @property
    def _title(self) -> str:
        return printable(str(self._name.value or "")).strip()[:60] or "unnamed"

    def _write(self, saved: dict[str, Any]) -> None:
        text = json.dumps(saved, indent=1)
        check_length(text, _MOST_CHARACTERS, "a file of saved values")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._file, text.encode())
        self._choice.set_options(sorted(saved))
