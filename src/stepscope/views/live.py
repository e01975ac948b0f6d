"""Live updates for pages: small notices over server-sent events; the page then fetches the data."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress

import msgspec

from stepscope.errors import StepscopeError
from stepscope.views.context import Context
from stepscope.views.notice import Notice
from stepscope.views.route import Empty, route

MAX_NOTICES = 50


class RunChange(msgspec.Struct):
    id: str
    version: int
    status: str


class Live(msgspec.Struct):
    """One event of `GET /api/live`: what changed since the last one."""

    version: int
    changed: list[RunChange]
    gone: list[str]
    notices: list[Notice] = []
    comments: list[str] = []
    """Where a comment was added or removed: `run:ID`, `report:ID`."""


class _Listener:
    """One open page: its pending updates, merged, so that a slow page costs no more than a fast one."""

    def __init__(self, loop: asyncio.AbstractEventLoop, version: int) -> None:
        self.loop = loop
        self.wake = asyncio.Event()
        self.pending: Live | None = Live(version=version, changed=[], gone=[])
        self.wake.set()

    def add(self, news: Live) -> None:
        self.pending = news if self.pending is None else merged(self.pending, news)
        with suppress(RuntimeError):  # its loop was just closed
            self.loop.call_soon_threadsafe(self.wake.set)


class Hub:
    """Distributes changes, found by one thread, to every open page, each waiting in an event loop."""

    def __init__(self, limit: int = 64) -> None:
        self.limit = limit
        self.version = 0
        self._lock = threading.Lock()
        self._listeners: set[_Listener] = set()
        self._closed = False
        self.on_listener: Callable[[], object] = lambda: None
        """Called when a page starts to listen, so that the stores are checked now."""

    def __len__(self) -> int:
        return len(self._listeners)

    def commented(self, topic: str) -> None:
        """Notify every page of a comment on a run or a report."""
        self.publish(Live(self.version, [], [], comments=[topic]))

    def publish(self, news: Live) -> None:
        """Notify every page; may be called from any thread and never waits for a page."""
        with self._lock:
            self.version = news.version
            for listener in self._listeners:
                listener.add(news)

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        with self._lock:
            self._closed = True
            for listener in self._listeners:
                with suppress(RuntimeError):
                    listener.loop.call_soon_threadsafe(listener.wake.set)

    async def listen(self) -> AsyncGenerator[Live, None]:
        """First the current state (so that a page sees whether it missed something), then each change."""
        with self._lock:
            if len(self._listeners) >= self.limit:
                raise TooMany(f"{self.limit} pages are already open on this server; close one, or reload later")
            listener = _Listener(asyncio.get_running_loop(), self.version)
            self._listeners.add(listener)
        self.on_listener()
        try:
            while not self._closed:
                await listener.wake.wait()
                with self._lock:
                    listener.wake.clear()
                    news, listener.pending = listener.pending, None
                if news is not None:
                    yield news
        finally:
            with self._lock:
                self._listeners.discard(listener)


class TooMany(StepscopeError):
    """The maximum number of listeners is reached."""

    http_status = 503


def merged(old: Live, new: Live) -> Live:
    """Two events as one."""
    changed = {change.id: change for change in (*old.changed, *new.changed)}
    gone = {*old.gone, *new.gone} - {change.id for change in new.changed}
    for run in new.gone:
        changed.pop(run, None)
    notices = [*old.notices, *new.notices][-MAX_NOTICES:]
    comments = list(dict.fromkeys([*old.comments, *new.comments]))[-MAX_NOTICES:]
    return Live(new.version, list(changed.values()), sorted(gone), notices, comments)


@route("GET", "/api/live")
def live(ctx: Context, request: Empty) -> AsyncIterator[Live]:
    """All changes from now on, until the page closes."""
    return ctx.hub.listen()
