"""HTTP with deadlines: a client that sends drop by drop, or nothing, or does not read its answer, is disconnected."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from stepscope.server.connections import ACCEPTED_AT_ONCE, Connections, network_of
from stepscope.server.headers import SAFE

ADMITTED = "stepscope.admitted"
"""Set in a request's scope by the guard: the caller has the token."""
READ_S = 20.0
"""A client that takes no byte of its answer for this long is given up."""
LINGER_S = 2.0
LINGER_BYTES = 8 << 20
"""After an early refusal (413) the rest of the request is read and thrown away for a while: closing at once would reset
the connection, and the client would see that instead of the answer."""


def patient_protocol(
    header_s: float, body_s: float, places: Connections | None = None, read_s: float = READ_S
) -> type[asyncio.Protocol]:
    """A protocol class for uvicorn that gives each request `header_s` and then `body_s` to arrive, answers `read_s`.

    Uvicorn itself only limits the pause between requests, so a few hundred half-sent ones would take every place.
    """
    waiting = places if places is not None else Connections()

    class PatientProtocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _deadline_of: type[h11.IDLE] | type[h11.SEND_BODY] | None = None
        _unread: asyncio.TimerHandle | None = None
        _lingers = 0
        _admitted = False
        _network = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._network = network_of(self.client[0] if self.client else None)
            self._watch()

        def data_received(self, data: bytes) -> None:
            if self._lingers:
                self._lingers -= len(data)
                if self._lingers <= 0:
                    self.transport.abort()
                return
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            self._admitted = self._admitted or ADMITTED in self.scope
            super().on_response_complete()
            if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
                self._linger()  # answered (refused) while its body was still coming
            else:
                self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            self._stop_unread()
            waiting.leave(self, self._network)
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._unread = self._unread or self.loop.call_later(read_s, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_unread()

        def send_400_response(self, msg: str) -> None:
            """As uvicorn's, with the headers that all our answers have."""
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            headers += [(name.encode(), value.encode()) for name, value in SAFE.items()]
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=msg.encode("ascii", "replace")),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def evict(self) -> None:
            self._stop()
            self.transport.abort()

        def _watch(self) -> None:
            """Start the clock when something of a request is missing; it is not set back by more drops."""
            state = self.conn.their_state
            if state not in (h11.IDLE, h11.SEND_BODY):  # a whole request is here and being answered
                self._stop()
                waiting.leave(self, self._network)
                return
            if self.transport.is_closing():
                return
            fresh = self.cycle is None  # nothing has come on this connection yet
            if state is h11.IDLE and not fresh and not self.conn.trailing_data[0]:
                self._stop()  # between requests: uvicorn's own clock runs
            elif self._deadline is None or self._deadline_of is not state:
                self._stop()
                self._deadline_of = state
                wait_s = header_s if state is h11.IDLE else body_s
                self._deadline = self.loop.call_later(wait_s, self.transport.abort)
            waiting.wait(self, self._network, self._admitted)

        def _linger(self) -> None:
            self._stop()
            waiting.leave(self, self._network)
            self._lingers = LINGER_BYTES
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self._deadline = self.loop.call_later(LINGER_S, self.transport.abort)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _stop_unread(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

    return PatientProtocol


def uvicorn_options(header_s: float, body_s: float) -> dict[str, Any]:
    """Limits for uvicorn: small headers, no websockets, no log line that could hold a token."""
    return {
        "http": patient_protocol(header_s, body_s),
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "log_level": "warning",
        "server_header": False,
        "proxy_headers": False,
        "h11_max_incomplete_event_size": 32 << 10,
        "backlog": ACCEPTED_AT_ONCE,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 3,
    }
