"""What the server shows: pages by address. What a page needs is imported when the server starts, not before."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from poker.play.lineup import AgentSpec
from poker.rules import Rules


@dataclass(frozen=True)
class Page:
    """`make` is called once, when the server starts; what it returns fills the page for every visitor."""

    path: str
    title: str
    make: Callable[[], Callable[[], None]]


def table(*, game: Rules, agents: list[AgentSpec], out: str) -> Page:
    """The table at which a visitor plays `agents`; hands are kept in `out`."""
    return Page("/", "Table", partial(_table, game, agents, out))


def _table(game: Rules, agents: list[AgentSpec], out: str) -> Callable[[], None]:
    from poker.table.table import make  # noqa: PLC0415

    return make(game, agents, out)
