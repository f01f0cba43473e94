"""Pages that the server shows, by address.

Pages are served at once; what they need is imported meanwhile, and agents are loaded in `processes` of their own.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from poker.errors import PokernetsError
from poker.machine import cores
from poker.play.lineup import AgentSpec
from poker.rules import Rules

Fill = Callable[[str], Awaitable[None]]
"""Fills a page for a visitor, given by a unique name."""
Fail = Callable[[BaseException], None]
"""Ends the server with an error; may be called from any thread."""


@dataclass(frozen=True)
class Page:
    """`make` is called once, in a thread, when pages are served; what it returns fills the page in a browser."""

    path: str
    title: str
    make: Callable[[Fail], Fill]


def table(*, game: Rules, agents: list[AgentSpec], reviewer: AgentSpec | None, out: str, processes: int | None) -> Page:
    """The table at which a visitor plays `agents`; hands are kept in `out`. `reviewer` solves for reviews where none of
    `agents` can."""
    return Page("/", "Table", partial(_table, game, agents, reviewer, out, _checked(processes)))


def _table(
    game: Rules, agents: list[AgentSpec], reviewer: AgentSpec | None, out: str, processes: int, fail: Fail
) -> Fill:
    from poker.table.table import make  # noqa: PLC0415

    return make(game, agents, reviewer, out, processes, fail)


def hands(*, game: Rules, reviewer: AgentSpec | None, log: str | None, out: str, processes: int | None) -> Page:
    """The page for hands of a file, at first of the file `log`, reviewed by `reviewer`, which plays `game`; reviews are
    kept in `out`."""
    return Page("/hands", "Hands", partial(_hands, game, reviewer, log, out, _checked(processes)))


def _hands(game: Rules, reviewer: AgentSpec | None, log: str | None, out: str, processes: int, fail: Fail) -> Fill:
    from poker.table.hands import make  # noqa: PLC0415

    return make(game, reviewer, log, out, processes)


def _checked(processes: int | None) -> int:
    """The number of processes, at least 0; None: one a core."""
    if processes is not None and processes < 0:
        raise PokernetsError("`processes` must be at least 0 (agents in the server itself), or null for one a core")
    return cores() if processes is None else processes


def explorer(
    *,
    algorithm: str,
    target_percent: float,
    iterations: int,
    threads: int,
    memory_limit_gib: float,
    blueprint: str,
    out: str,
) -> Page:
    """The page for spots to solve, by the settings of `poker.evaluation.measures.spot`, and to walk through, with
    preflop charts of the `blueprint`; solutions are written below `out` when asked."""
    settings = (algorithm, target_percent, iterations, threads, memory_limit_gib)
    return Page("/explorer", "Explorer", partial(_explorer, settings, blueprint, out))


def _explorer(settings: tuple[str, float, int, int, float], blueprint: str, out: str, fail: Fail) -> Fill:
    from poker.evaluation.measures.spot import Settings  # noqa: PLC0415
    from poker.table.explorer.explorer import make  # noqa: PLC0415

    return make(Settings(*settings), blueprint, out)
