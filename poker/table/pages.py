"""What the server shows: pages by address. What a page needs is imported when the server starts, not before."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from poker.evaluation.spot import Settings
from poker.play.lineup import AgentSpec
from poker.rules import Rules

Fill = Callable[[str], Awaitable[None]]
"""Fills a page for a visitor, whose name is that of nobody else."""


@dataclass(frozen=True)
class Page:
    """`make` is called once, when the server starts; what it returns fills the page once a browser has opened it."""

    path: str
    title: str
    make: Callable[[], Fill]


def table(*, game: Rules, agents: list[AgentSpec], reviewer: AgentSpec | None, out: str) -> Page:
    """The table at which a visitor plays `agents`; hands are kept in `out`. `reviewer` solves for reviews where none of
    `agents` can."""
    return Page("/", "Table", partial(_table, game, agents, reviewer, out))


def _table(game: Rules, agents: list[AgentSpec], reviewer: AgentSpec | None, out: str) -> Fill:
    from poker.table.table import make  # noqa: PLC0415

    return make(game, agents, reviewer, out)


def hands(*, game: Rules, reviewer: AgentSpec | None, log: str | None, out: str) -> Page:
    """Hands of a file, the file `log` to begin with, reviewed by `reviewer`, which plays `game`; what decisions cost is
    kept in `out`."""
    return Page("/hands", "Hands", partial(_hands, game, reviewer, log, out))


def _hands(game: Rules, reviewer: AgentSpec | None, log: str | None, out: str) -> Fill:
    from poker.table.hands import make  # noqa: PLC0415

    return make(game, reviewer, log, out)


def explorer(*, settings: Settings, blueprint: str, out: str) -> Page:
    """Spots to solve and walk through, written below `out` when asked; preflop charts of the `blueprint`."""
    return Page("/explorer", "Explorer", partial(_explorer, settings, blueprint, out))


def _explorer(settings: Settings, blueprint: str, out: str) -> Fill:
    from poker.table.explorer import make  # noqa: PLC0415

    return make(settings, blueprint, out)
