"""Handshake at our dealer: on each port the first program that greets as the protocol says gets the seat.

A visitor that leaves or greets otherwise is named and sent away, and the seat stays open. The seat of a player that
leaves before everybody has come opens again. Silent visitors wait and block nobody.
"""

import errno
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from poker.formats.acpc.protocol import VERSION, ConnectionLost, LineConnection, NoAnswer
from poker.run.errors import PokernetsError

_GREETING = "VERSION:2.0."
_REST_OF_A_LINE = 0.01
"""Seconds to wait for the rest of a line that has begun to arrive."""
_MOST_VISITORS = 32
"""Silent visitors at a seat; one more, and the one that came first is sent away."""


@dataclass
class _Seat:
    """A seat, open without `player`; `visitors` are connections that have not greeted yet, with their origins."""

    name: str
    server: socket.socket
    selector: selectors.BaseSelector
    tell: Callable[[str], None]
    visitors: dict[LineConnection, str] = field(default_factory=dict)
    player: LineConnection | None = None
    origin: str = ""

    def open(self) -> None:
        self.server.setblocking(False)
        self.selector.register(self.server, selectors.EVENT_READ, self._come_in)

    def _come_in(self) -> None:
        try:
            connection, address = self.server.accept()
            line = LineConnection(connection)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                if not self.visitors:
                    raise
                self._send_away(next(iter(self.visitors)), "said nothing, and others want to come in")
            return  # or it was gone before it was let in
        self.visitors[line] = f"{address[0]}:{address[1]}"
        self.selector.register(line, selectors.EVENT_READ, partial(self._hear, line))
        if len(self.visitors) > _MOST_VISITORS:
            self._send_away(next(iter(self.visitors)), "said nothing, and others want to come in")

    def _hear(self, line: LineConnection) -> None:
        try:
            greeting = line.read(_REST_OF_A_LINE)
        except NoAnswer:
            return
        except ConnectionLost:
            self._send_away(line, "left without a greeting")
        except PokernetsError as error:
            self._send_away(line, f"does not greet: {error}")
        else:
            if not greeting.startswith(_GREETING):
                self._send_away(line, f"greets with `{greeting[:60]}`, not {VERSION}")
                return
            self.player, self.origin = line, self.visitors.pop(line)
            self.selector.modify(line, selectors.EVENT_READ, partial(self._watch, line))
            self.selector.unregister(self.server)
            for late in list(self.visitors):
                self._send_away(late, "came too late")

    def _send_away(self, line: LineConnection, why: str) -> None:
        self.selector.unregister(line)
        line.close()
        origin = self.visitors.pop(line)
        self.tell(f"{self.name}: a visitor from {origin} {why}; the seat {'is taken' if self.player else 'stays open'}")

    def _watch(self, player: LineConnection) -> None:
        self.selector.unregister(player)
        if player.is_gone():
            player.close()
            self.player = None
            self.tell(f"{self.name}: the player from {self.origin} left before the match began; the seat is open again")
            self.open()


def seat_players(
    names: Sequence[str], servers: Sequence[socket.socket], seconds: float | None, tell: Callable[[str], None]
) -> list[LineConnection]:
    """Wait for the players; their connections in the order of `names` and `servers`. `seconds` None waits for ever.

    `tell` is called with every visitor that was sent away. Raises PokernetsError when a seat is open at the end.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        seats = [_Seat(name, server, selector, tell) for name, server in zip(names, servers, strict=True)]
        try:
            for seat in seats:
                seat.open()
            while missing := [seat.name for seat in seats if seat.player is None]:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise PokernetsError(f"{', '.join(missing)} did not sit down within {seconds:g} s")
                for key, _ in selector.select(left):
                    if key in selector.get_map().values():  # none before it has unregistered it
                        key.data()
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
