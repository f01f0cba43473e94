"""Who sits down at our dealer: on each port the first program that greets as the protocol says.

A visitor that leaves, or greets otherwise, is named and sent away, and the seat stays open; so does that of a player
who leaves before everybody has come. Silent visitors wait and keep nobody from the seat.
"""

import errno
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from poker.errors import PokernetsError
from poker.formats.acpc_protocol import VERSION, ConnectionLost, LineConnection, NoAnswer

_GREETING = "VERSION:2.0."
_REST_OF_A_LINE = 0.01
"""Seconds to wait for the rest of a line that has begun to arrive."""
_MOST_VISITORS = 32
"""Silent ones at a seat; of more, the one that came first is sent away."""


@dataclass
class _Seat:
    """`visitors` are connected and have not greeted yet, by connection where they come from; open without `player`."""

    name: str
    server: socket.socket
    visitors: dict[LineConnection, str] = field(default_factory=dict)
    player: LineConnection | None = None
    origin: str = ""


def seat_players(
    names: Sequence[str], servers: Sequence[socket.socket], seconds: float | None, tell: Callable[[str], None]
) -> list[LineConnection]:
    """The players in the order of `names`, from the listening `servers`; `seconds` None waits for ever.

    `tell` is called with every visitor that was sent away. Raises PokernetsError when a seat is open at the end.
    """
    seats = [_Seat(name, server) for name, server in zip(names, servers, strict=True)]
    deadline = None if seconds is None else time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        door = _Door(selector, tell)
        try:
            for seat in seats:
                seat.server.setblocking(False)
                door.open(seat)
            while any(seat.player is None for seat in seats):
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    missing = ", ".join(seat.name for seat in seats if seat.player is None)
                    raise PokernetsError(f"{missing} did not sit down within {seconds:g} s")
                for key, _ in selector.select(left):
                    door.look(key.data, key.fileobj)
        except BaseException:
            for seat in seats:
                if seat.player is not None:
                    seat.player.close()
            raise
        finally:
            for seat in seats:
                for line in seat.visitors:
                    line.close()
    return [seat.player for seat in seats if seat.player is not None]


class _Door:
    """Sees to one socket at a time that has something to read."""

    def __init__(self, selector: selectors.BaseSelector, tell: Callable[[str], None]) -> None:
        self._selector = selector
        self._tell = tell

    def open(self, seat: _Seat) -> None:
        self._selector.register(seat.server, selectors.EVENT_READ, seat)

    def look(self, seat: _Seat, where: object) -> None:
        if where is seat.server and seat.player is None:
            self._come_in(seat)
        elif isinstance(where, LineConnection) and where in seat.visitors:
            self._hear(seat, where)
        elif where is seat.player and seat.player is not None:
            self._watch(seat, seat.player)

    def _come_in(self, seat: _Seat) -> None:
        try:
            connection, address = seat.server.accept()
            line = LineConnection(connection)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                if not seat.visitors:
                    raise
                self._send_away(seat, next(iter(seat.visitors)), "said nothing, and others want to come in")
            return  # or it was gone before it was let in
        seat.visitors[line] = f"{address[0]}:{address[1]}"
        self._selector.register(line, selectors.EVENT_READ, seat)
        if len(seat.visitors) > _MOST_VISITORS:
            self._send_away(seat, next(iter(seat.visitors)), "said nothing, and others want to come in")

    def _hear(self, seat: _Seat, line: LineConnection) -> None:
        try:
            greeting = line.read(_REST_OF_A_LINE)
        except NoAnswer:
            return
        except ConnectionLost:
            self._send_away(seat, line, "left without a greeting")
        except PokernetsError as error:
            self._send_away(seat, line, f"does not greet: {error}")
        else:
            if not greeting.startswith(_GREETING):
                self._send_away(seat, line, f"greets with `{greeting[:60]}`, not {VERSION}")
                return
            seat.player, seat.origin = line, seat.visitors.pop(line)
            self._selector.unregister(seat.server)
            for late in list(seat.visitors):
                self._send_away(seat, late, "came too late")

    def _send_away(self, seat: _Seat, line: LineConnection, why: str) -> None:
        self._selector.unregister(line)
        line.close()
        origin = seat.visitors.pop(line)
        self._tell(
            f"{seat.name}: a visitor from {origin} {why}; the seat {'is taken' if seat.player else 'stays open'}"
        )

    def _watch(self, seat: _Seat, player: LineConnection) -> None:
        self._selector.unregister(player)
        if player.is_gone():
            player.close()
            seat.player = None
            self._tell(
                f"{seat.name}: the player from {seat.origin} left before the match began; the seat is open again"
            )
            self.open(seat)
