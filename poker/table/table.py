"""The table in the browser."""

from collections.abc import Callable

from nicegui import ui

from poker.play.lineup import AgentSpec
from poker.rules import Rules


def make(game: Rules, agents: list[AgentSpec], out: str) -> Callable[[], None]:
    def fill() -> None:
        ui.label(f"{game.name} against {', '.join(spec.name for spec in agents)}")

    return fill
