"""Pages that the server can show, by address.

Pages are served immediately. Their modules are imported meanwhile, and agents are loaded in their own `processes`.
"""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Page:
    """A page of the server.

    Attributes:
        path: its address.
        module: module with a function `make`, which takes `needs` and the settings and returns a function that fills
            the page.
        settings: the settings, by the names of that function's arguments.
    """

    path: str
    title: str
    module: str
    settings: Mapping[str, Any]

    def make(self, needs: Callable[["Future[Any]"], None]) -> Callable[[str], Awaitable[None]]:
        """Make the page; called once, in a thread, when the server starts.

        Args:
            needs: ends the server with the error of a future, if the future fails.

        Returns:
            function that fills the page in a browser for a visitor, given by a unique name.
        """
        fill: Callable[[str], Awaitable[None]] = import_module(self.module).make(needs, **self.settings)
        return fill


def six_handed(*, table: Callable[[], Page] | None) -> Page | None:
    """Return the page of the table of six beside a heads-up game; None without one.

    Args:
        table: returns the page of the table, as its settings are then.
    """
    return None if table is None else Page("/six", "Six-handed", f"{__package__}.six_handed", {"table": table})


def blueprint_of(page: Page) -> str:
    """Return the path of the blueprint that the agents of a table of six need."""
    path: str = page.settings["agents"][0].settings["blueprint"]["blueprint"]
    return path
