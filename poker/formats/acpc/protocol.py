"""Lines over a TCP connection, as in the ACPC protocol 2.0.0.

Lines end with CRLF, and comments start with `#` or `;`.
"""

import socket
import sys
import time

from poker.formats.acpc.log import AcpcError
from poker.run.errors import PokernetsError

VERSION = "VERSION:2.0.0"
LOOPBACK = "127.0.0.1"
_MAX_LINE = 4096
_PAUSE = 0.2


class ConnectionLost(PokernetsError):  # noqa: N818 (a lost connection need not be an error)
    """The other side has closed the connection, or does not accept data."""


class NoAnswer(PokernetsError):  # noqa: N818
    """No line came within the time limit."""


class LineConnection:
    """A connection that sends and reads single lines."""

    def __init__(self, connection: socket.socket) -> None:
        """Use a connected socket."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        self._buffer = bytearray()
        self._too_long = False

        """Whether the next bytes belong to a line that was too long."""

    def __enter__(self) -> "LineConnection":
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, line: str) -> None:
        """Send a line.

        Args:
            line: the line without its end.

        Raises:
            ConnectionLost: the other side is gone.
        """
        try:
            self._socket.settimeout(None)
            self._socket.sendall(line.encode("ascii") + b"\r\n")
        except OSError as error:
            raise ConnectionLost(f"the connection was lost: {error}") from error

    def read(self, seconds: float | None = None) -> str:
        """Read the next line that is not a comment.

        Args:
            seconds: time limit; None waits forever.

        Returns:
            The line without its end.

        Raises:
            AcpcError: the line is too long. The next call reads the line after it.
            NoAnswer: no line came in time.
            ConnectionLost: the other side is gone.
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
            raise NoAnswer("timed out waiting for a line")
        try:
            self._socket.settimeout(left)
            data = self._socket.recv(1 << 16)
        except TimeoutError as error:
            raise NoAnswer("timed out waiting for a line") from error
        except OSError as error:
            raise ConnectionLost(f"the connection was lost: {error}") from error
        if not data:
            raise ConnectionLost("the other side closed the connection")
        self._buffer += data


def connect(host: str, port: int, seconds: float) -> LineConnection:
    """Connect to a dealer that may still be starting; a message is printed if it has to wait.

    Args:
        host: address of the dealer.
        port: port of the dealer.
        seconds: time limit.

    Raises:
        ConnectionLost: no dealer answers in time.
    """
    waiting = False
    deadline = time.monotonic() + seconds
    while True:
        try:
            return LineConnection(socket.create_connection((host, port), timeout=max(1.0, seconds)))
        except OSError as error:
            if time.monotonic() + _PAUSE > deadline:
                raise ConnectionLost(
                    f"no dealer at {host}:{port}: {error}; start the dealer before the player"
                ) from error
            if not waiting:
                print(f"waiting {seconds:g} s for a dealer at {host}:{port}", file=sys.stderr)
            waiting = True
            time.sleep(_PAUSE)


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    """Open a socket for players to connect to.

    Args:
        port: the port; 0 for any free one.
        host: address of this machine; empty for all addresses.

    Raises:
        PokernetsError: the address or the port cannot be used.
    """
    try:
        return socket.create_server((host, port), backlog=8)
    except OSError as error:
        raise PokernetsError(
            f"cannot listen on port {port} of `{host}`: {error}; choose another port, or 0 for any free one, and an"
            " address of this machine as `host`"
        ) from error
