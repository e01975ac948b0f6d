"""HTTP with patience that ends: a client that sends its request drop by drop, or nothing, loses its connection."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["patient_protocol"]


MOST_CONNECTIONS = 256
"""Beyond this, a new connection takes the place of the one that has been waiting longest without a request."""


def patient_protocol(request_s: float, most: int = MOST_CONNECTIONS) -> type[asyncio.Protocol]:
    """A protocol class for uvicorn that gives each request `request_s` to arrive whole, headers and body.

    Uvicorn itself only limits the pause between requests, so a few hundred half-sent ones would take every place.
    """
    waiting: dict[asyncio.Protocol, asyncio.Transport] = {}  # oldest first

    class PatientProtocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            if len(self.connections) >= most and waiting:
                next(iter(waiting.values())).abort()
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.SEND_BODY:  # answered (refused) while its body was still coming
                self.transport.close()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            waiting.pop(self, None)
            super().connection_lost(exc)

        def _watch(self) -> None:
            """Start the clock when something of a request is missing; it is not set back by more drops."""
            state = self.conn.their_state
            if state not in (h11.IDLE, h11.SEND_BODY):  # a whole request is here and being answered
                self._stop()
                waiting.pop(self, None)
                return
            waiting.setdefault(self, self.transport)
            fresh = self.cycle is None  # nothing has come on this connection yet
            if state is h11.IDLE and not fresh and not self.conn.trailing_data[0]:
                self._stop()  # between requests: uvicorn's own clock runs
            elif self._deadline is None:
                self._deadline = self.loop.call_later(request_s, self.transport.abort)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return PatientProtocol


def uvicorn_options(request_s: float) -> dict[str, Any]:
    """Limits for uvicorn: small headers, no websockets, no log line that could hold a token."""
    return {
        "http": patient_protocol(request_s),
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "log_level": "warning",
        "server_header": False,
        "proxy_headers": False,
        "h11_max_incomplete_event_size": 32 << 10,
        "limit_concurrency": 512,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 3,
    }
