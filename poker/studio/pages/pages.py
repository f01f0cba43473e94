"""Pages that the server can show, by address.

Pages are served immediately. Their modules are imported meanwhile, and agents are loaded in their own `processes`.
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
"""Default memory limit of all solves together in GiB, on a machine that has at least twice as much."""


@dataclass(frozen=True)
class Page:
    """A page of the server.

    Attributes:
        path: its address.
        title: its title.
        module: module with a function `make`, which takes the settings and returns a function that fills the page.
        settings: the settings.
    """

    path: str
    title: str
    module: str
    settings: tuple[Any, ...]

    def make(self, needs: Callable[["Future[Any]"], None]) -> Callable[[str], Awaitable[None]]:
        """Make the page; called once, in a thread, when the server starts.

        Args:
            needs: ends the server with the error of a future, if the future fails.

        Returns:
            function that fills the page in a browser for a visitor, given by a unique name.
        """
        fill: Callable[[str], Awaitable[None]] = import_module(self.module).make(needs, *self.settings)
        return fill


def table(
    *,
    game: Rules,
    agents: list[AgentSpec],
    reviewer: AgentSpec | None,
    out: str,
    processes: int | None,
    titles: Mapping[str, str],
) -> Page:
    """Return the page of the table.

    Args:
        game: the game.
        agents: the agents that a visitor plays; heads-up the visitor chooses one of them.
        reviewer: the agent that solves for reviews if none of `agents` can.
        out: folder of the hands.
        processes: processes of the agents, as in `Pool`.
        titles: what the page calls the agents, by name.
    """
    return Page("/", "Table", f"{__package__}.table", (game, agents, reviewer, out, processes, titles))


def six_handed(*, table: Callable[[], Page] | None) -> Page | None:
    """Return the page of the table of six beside a heads-up game; None without one.

    Args:
        table: returns the page of the table, as its settings are then.
    """
    return None if table is None else Page("/six", "Six-handed", f"{__package__}.six_handed", (table,))


def blueprint_of(page: Page) -> str:
    """Return the path of the blueprint that the agents of a table of six need."""
    path: str = page.settings[1][0].settings["blueprint"]["blueprint"]
    return path


def questions(
    *,
    game: Rules,
    agents: list[AgentSpec],
    reviewer: AgentSpec | None,
    threads: int,
    processes: int | None,
) -> Page:
    """Return the page of the HTTP interface, through which other programs query agents, solves and reviews.

    Args:
        game: the game.
        agents: the agents that can be queried.
        reviewer: the agent that reviews if none of `agents` can.
        threads: threads of a solve.
        processes: processes of the agents, as in `Pool`.
    """
    return Page("/api", "API", f"{studio.__name__}.serving.web", (game, agents, reviewer, threads, processes))


def database(
    *,
    game: Rules,
    reviewer: AgentSpec | None,
    log: str | None,
    played: str,
    out: str,
    processes: int | None,
    six_handed: Callable[[], Page] | None = None,
) -> Page:
    """Return the page that searches a visitor's hands.

    Args:
        game: the game.
        reviewer: the agent for reviews and drills.
        log: a file of hands that every visitor sees; None for none.
        played: folder of the hands played at the table.
        out: folder of the databases.
        processes: processes of the reviewer, as in `Pool`.
        six_handed: returns the page of a table whose agents review hands of more than two players; None for none.
    """
    settings = game, reviewer, log, played, out, processes, six_handed
    return Page("/database", "Database", f"{__package__}.database", settings)


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
    """Return the page that solves and explores spots, with preflop charts.

    Args:
        algorithm: as in `poker.spots.report.Settings`.
        exploitability: likewise, in pots.
        iterations: likewise.
        threads: likewise.
        memory_limit_gib: memory of all solves together; None for half of the machine's memory, up to `MOST_GIB`.
        blueprint: folder of the blueprint of the charts.
        out: folder below which visitors can write solutions.
    """
    most = min(MOST_GIB, memory() / 2 / 2**30) if memory_limit_gib is None else memory_limit_gib
    solving = algorithm, exploitability, iterations, threads, most
    return Page("/explorer", "Explorer", f"{studio.__name__}.explorer.explorer", (solving, blueprint, out))
