"""Pages that the server can show, by address.

Pages are served at once; their modules are imported meanwhile, and agents are loaded in `processes` of their own.
"""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from poker import studio
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.run.machine import memory

MOST_GIB = 8.0
"""Memory that solves take together by default, on a machine that has twice as much."""


@dataclass(frozen=True)
class Page:
    """A page whose `module` has a function `make`, which takes the `settings` and returns what fills the page."""

    path: str
    title: str
    module: str
    settings: tuple[Any, ...]

    def make(self, needs: Callable[["Future[Any]"], None]) -> Callable[[str], Awaitable[None]]:
        """Called once, in a thread, when pages are served; `needs` ends the server with the error of a future, if it
        comes to one. What is returned fills the page in a browser for a visitor, given by a unique name."""
        fill: Callable[[str], Awaitable[None]] = import_module(self.module).make(needs, *self.settings)
        return fill


def table(
    *,
    game: Rules,
    agents: list[AgentSpec],
    reviewer: AgentSpec | None,
    out: str,
    processes: int | None,
    styles: Mapping[str, str],
) -> Page:
    """The table at which a visitor plays `agents`, heads-up one of them at a time, which the words of `styles` offer;
    hands are kept in `out`. `reviewer` solves for reviews where none of `agents` can."""
    return Page("/", "Table", f"{__package__}.table", (game, agents, reviewer, out, processes, styles))


def questions(
    *,
    game: Rules,
    agents: list[AgentSpec],
    reviewer: AgentSpec | None,
    threads: int,
    processes: int | None,
) -> Page:
    """The page of the HTTP interface: other programs ask `agents`, and for solves and reviews."""
    return Page("/api", "API", f"{studio.__name__}.serving.web", (game, agents, reviewer, threads, processes))


def database(
    *, game: Rules, reviewer: AgentSpec | None, log: str | None, played: str, out: str, processes: int | None
) -> Page:
    """The page that searches a visitor's hands: those of the table, which are below `played`, and of files, at first of
    the file `log`. They are reviewed and drilled by `reviewer`, which plays `game`; the bases are kept in `out`."""
    return Page("/database", "Database", f"{__package__}.database", (game, reviewer, log, played, out, processes))


def explorer(
    *,
    algorithm: str,
    exploitability: float,
    iterations: int,
    threads: int,
    memory_limit_gib: float | None,
    blueprint: str,
    out: str,
) -> Page:
    """The page for spots to solve, by the settings of `poker.spots.report`, and to walk through, with
    preflop charts of the `blueprint`; solutions are written below `out` when asked. Solves
    have `memory_limit_gib` together; None: half of the machine's memory, up to `MOST_GIB`."""
    most = min(MOST_GIB, memory() / 2 / 2**30) if memory_limit_gib is None else memory_limit_gib
    solving = algorithm, exploitability, iterations, threads, most
    return Page("/explorer", "Explorer", f"{studio.__name__}.explorer.explorer", (solving, blueprint, out))
