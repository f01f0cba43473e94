"""Handshake at our dealer: on each port the first program that sends the protocol's greeting gets the seat."""

import select
import socket
import time
from collections.abc import Callable, Sequence

from poker.formats.acpc.protocol import VERSION, LineConnection
from poker.run.errors import PokernetsError

_GREETING = "VERSION:2.0."
_GREETING_SECONDS = 5.0
"""Longest time in seconds from a connection to its greeting."""


def seat_players(
    names: Sequence[str], servers: Sequence[socket.socket], seconds: float | None, tell: Callable[[str], None]
) -> list[LineConnection]:
    """Wait until all players have connected.

    Args:
        names: the players.
        servers: the socket at which each of them connects.
        seconds: longest time until all have greeted; None waits for ever.
        tell: called with a line for every other program that connected and was refused.

    Returns:
        the players' connections in the order of `names`.

    Raises:
        PokernetsError: a player did not connect in time.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    lines: dict[str, LineConnection] = {}
    try:
        while missing := {server: name for name, server in zip(names, servers, strict=True) if name not in lines}:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select(list(missing), [], [], left)
            if not ready:
                raise PokernetsError(f"{', '.join(missing.values())} did not connect within {seconds:g} s")
            for server in ready:
                if (line := _greeted(missing[server], server, tell)) is not None:
                    lines[missing[server]] = line
    except BaseException:
        for line in lines.values():
            line.close()
        raise
    return [lines[name] for name in names]


def _greeted(name: str, server: socket.socket, tell: Callable[[str], None]) -> LineConnection | None:
    """Return the next connection at a player's port; None after closing and reporting one without a valid greeting."""
    connection, address = server.accept()
    line = LineConnection(connection)
    try:
        greeting = line.read(_GREETING_SECONDS)
        if greeting.startswith(_GREETING):
            return line
        why = f"sends `{greeting[:60]}`, not {VERSION}"
    except PokernetsError as error:
        why = f"sends no version: {error}"
    line.close()
    tell(f"{name}: a client at {address[0]}:{address[1]} {why}; the seat stays open")
    return None
