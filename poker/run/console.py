"""The console that every message, table and bar passes through on its way to the terminal or a log."""

from collections.abc import Iterable

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from poker.run.errors import printable


class Console(rich.console.Console):  # noqa: TID251
    """A console on which control characters are question marks: messages have parts that strangers wrote, such as names
    and greetings, whose escape sequences would move the cursor, hide text or change the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
