"""Time limits for requests: a connection that brings no whole request is closed, however many there are of them."""

import asyncio
import time
from typing import Any

from starlette.types import Message, Receive
from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADERS_SECONDS = 20.0
"""From the connection, or from the first byte of a later request, to the end of its headers."""
SILENT_SECONDS, BODY_SECONDS = 20.0, 300.0
"""Between two parts of a body, and for all of it."""


class TimedHTTP(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol with a time limit for headers, which it does not have."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering or self.transport.get_protocol() is not self:  # which it is not for a WebSocket
            self._stop()
        elif self._limit is None:
            self._expect_headers()

    def connection_lost(self, error: Exception | None) -> None:
        self._stop()
        super().connection_lost(error)

    def _expect_headers(self) -> None:
        self._limit = self.loop.call_later(HEADERS_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


def timed_body(receive: Receive) -> Receive:
    """`receive`, which takes a client whose body does not come for one that has left."""
    until, is_whole = time.monotonic() + BODY_SECONDS, False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            message: dict[str, Any] = dict(
                await asyncio.wait_for(receive(), min(SILENT_SECONDS, max(0.0, until - time.monotonic())))
            )
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_whole = not message.get("more_body", False)
        return message

    return received
