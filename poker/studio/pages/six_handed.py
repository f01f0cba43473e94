"""The table of six beside a heads-up game: it offers to make the blueprint that its agents need."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from subprocess import PIPE, STDOUT
from typing import Any

from nicegui import run, ui

from poker.run.child import ENDS_WITH
from poker.store.artifacts import artifact_exists
from poker.studio.pages.elements import Fill, Needs, alerts
from poker.studio.pages.pages import Page, blueprint_of

_MINUTES = 9
"""Approximate time of the commands on two cores."""
_OFFER = (
    "Agents at a table of six need a blueprint, which this machine trains once. It takes about"
    f" {_MINUTES} minutes on two cores and 500 MB of disk. An interrupted training continues."
)


class Commands:
    """Commands that run one after the other, in the background.

    Attributes:
        line: the last line that they printed.
        started: time at which they started, as `time.monotonic`; None while they do not run.
    """

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        """Store the commands."""
        self._commands = commands
        self._is_cancelled = False
        self._process: subprocess.Popen[str] | None = None
        self.line = ""
        self.started: float | None = None

    def start(self) -> None:
        """Start the commands, unless they run."""
        if self.started is None:
            self.started, self._is_cancelled = time.monotonic(), False
            threading.Thread(target=self._run, daemon=True, name="commands").start()

    def cancel(self) -> None:
        """End the commands, if they run."""
        self._is_cancelled = True
        if self._process is not None:
            self._process.terminate()

    def _run(self) -> None:
        piped: Any = {"stdout": PIPE, "stderr": STDOUT, "text": True, "errors": "replace"}
        environment = {**os.environ, ENDS_WITH: str(os.getpid())}
        try:
            for command in self._commands:
                with subprocess.Popen(command, env=environment, **piped) as self._process:
                    for line in self._process.stdout or ():
                        self.line = line.strip() or self.line
                if self._process.returncode or self._is_cancelled:
                    break
        except OSError as error:
            self.line = f"The command did not start: {error}"
        if self._is_cancelled:
            self.line = "Cancelled. The button continues the training."
        self.started = None


def make(_: Needs, table: Callable[[], Page]) -> Fill:
    """Make the page.

    Args:
        _: unused: without the blueprint, other pages go on.
        table: returns the page of the table of six.
    """
    page = table()
    blueprint, game = blueprint_of(page), page.settings["game"].name
    jobs = ("abstraction", "blueprint")
    data = sys.executable, "-m", "pokernets", "data"
    commands = Commands([(*data, job, f"game={game}") for job in jobs])

    once, one_by_one = cache(lambda: table().make(lambda _: None)), threading.Lock()

    def made() -> Fill:
        """Return the function that fills the table, which is made once the blueprint is there."""
        with one_by_one:
            return once()

    async def fill(visitor: str) -> None:
        place = ui.element("div").style("display: contents")

        async def sit_down() -> None:
            place.clear()
            with place, alerts():
                fill_table = await run.io_bound(made)
                if fill_table is not None:  # the server goes on
                    await fill_table(visitor)

        if artifact_exists(blueprint):
            await sit_down()
            return
        with place:
            ui.label(_OFFER)
            button = ui.button("Make the blueprint", on_click=commands.start).props("no-caps color=primary")
            cancel = ui.button("Cancel", on_click=commands.cancel).props("no-caps flat")
            bar = ui.linear_progress(0.0, show_value=False).props('aria-label="Progress"')
            progress = ui.label().props("role=status")

        async def look() -> None:
            started = commands.started
            button.set_enabled(started is None)
            for element in (bar, cancel):
                element.set_visibility(started is not None)
            seconds = 0.0 if started is None else time.monotonic() - started
            bar.set_value(min(seconds / (60 * _MINUTES), 1.0))
            clock = f"{int(seconds) // 60}:{int(seconds) % 60:02} of about {_MINUTES} minutes. " if started else ""
            progress.set_text(clock + commands.line)
            if started is None and artifact_exists(blueprint):
                timer.cancel()
                await sit_down()

        timer = ui.timer(1.0, look)

    return fill
