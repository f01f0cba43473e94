"""Lines over a TCP connection, as the ACPC protocol 2.0.0 sends them: ended by CRLF, comments start with `#` or `;`."""

import socket
import sys
import time

from poker.formats.acpc.log import AcpcError
from poker.run.errors import PokernetsError

VERSION = "VERSION:2.0.0"
LOOPBACK = "127.0.0.1"
_MAX_LINE = 4096
_PAUSE = 0.2


class ConnectionLost(PokernetsError):  # noqa: N818 (it is lost, whatever the reason)
    """The other side is gone, or does not take what is sent to it."""


class NoAnswer(PokernetsError):  # noqa: N818
    """No line came within the time allowed."""


class LineConnection:
    """Reads and writes single lines; one read may hold part of a line or several of them."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        self._buffer = bytearray()
        self._too_long = False
        """Whether the next bytes are the rest of a line that was too long."""

    def __enter__(self) -> "LineConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, line: str) -> None:
        try:
            self._socket.settimeout(None)
            self._socket.sendall(line.encode("ascii") + b"\r\n")
        except OSError as error:
            raise ConnectionLost(f"the connection is lost: {error}") from error

    def read(self, seconds: float | None = None) -> str:
        """The next line that is no comment, without its end. `seconds` None waits for ever.

        A line that is too long raises AcpcError; the next call reads on behind it.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            line = self._next_line(deadline)
            if line and line[0] not in "#;":
                return line

    def _next_line(self, deadline: float | None) -> str:
        while True:
            end = self._buffer.find(b"\n")
            if end < 0 and len(self._buffer) <= _MAX_LINE:
                self._receive(deadline)
                continue
            line = bytes(self._buffer if end < 0 else self._buffer[:end]).rstrip(b"\r")
            del self._buffer[: len(self._buffer) if end < 0 else end + 1]
            is_rest, self._too_long = self._too_long, end < 0
            if is_rest or (len(line) > _MAX_LINE and line[0] in b"#;"):
                continue
            if len(line) > _MAX_LINE:
                raise AcpcError(f"a line of more than {_MAX_LINE} bytes: `{line[:60]!r}...`")
            return line.decode("ascii", errors="replace")

    def _receive(self, deadline: float | None) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise NoAnswer("no line came in time")
        try:
            self._socket.settimeout(left)
            data = self._socket.recv(1 << 16)
        except TimeoutError as error:
            raise NoAnswer("no line came in time") from error
        except OSError as error:
            raise ConnectionLost(f"the connection is lost: {error}") from error
        if not data:
            raise ConnectionLost("the other side closed the connection")
        self._buffer += data


def connect(host: str, port: int, seconds: float) -> LineConnection:
    """Connects to a dealer that may still be starting, trying for `seconds`; says so when it has to wait."""
    waiting = False
    deadline = time.monotonic() + seconds
    while True:
        try:
            return LineConnection(socket.create_connection((host, port), timeout=max(1.0, seconds)))
        except OSError as error:
            if time.monotonic() + _PAUSE > deadline:
                raise ConnectionLost(
                    f"no dealer answers at {host}:{port}: {error}; start it, then the player"
                ) from error
            if not waiting:
                print(f"waiting {seconds:g} s for a dealer at {host}:{port}", file=sys.stderr)
            waiting = True
            time.sleep(_PAUSE)


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    """A socket for players to connect to at address `host` of this machine (empty: all); port 0 takes a free one."""
    try:
        return socket.create_server((host, port), backlog=8)
    except OSError as error:
        raise PokernetsError(
            f"cannot listen on port {port} of `{host}`: {error}; choose another port, or 0 for any free one, and an"
            " address of this machine as `host`"
        ) from error
