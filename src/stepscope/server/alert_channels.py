"""Where alerts go besides the page: a thread hands them on, so that a slow chat never holds up the server."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, get_args

from stepscope.errors import ConfigError
from stepscope.fence import fenced
from stepscope.importers.lock import ImportLock
from stepscope.server.desktop import Desktop
from stepscope.server.settings import Settings
from stepscope.server.webhook import Webhook
from stepscope.views.notice import Notice, NoticeKind

log = logging.getLogger("stepscope.server")

ALL_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)
USUAL: tuple[NoticeKind, ...] = ("failed", "lost", "nonfinite", "stalled", "finding", "alert")
MOST_WAITING = 200


class Outlet(Protocol):
    @property
    def name(self) -> str: ...

    def send(self, notice: Notice) -> str | None: ...


class Outlets:
    """Some outlets and the thread that serves them."""

    def __init__(
        self, outlets: Sequence[Outlet], kinds: Iterable[str], is_ours: Callable[[], bool] = lambda: True
    ) -> None:
        """`is_ours` says whether this process, of several that notice the same, is the one to send it."""
        self._outlets = outlets
        self._is_ours = is_ours
        self._kinds = frozenset(kinds)
        self._waiting: queue.Queue[Notice | None] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(outlet.name for outlet in self._outlets)

    def start(self) -> None:
        if self._outlets and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="stepscope-outlets", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Give up what waits: the process is about to end, and must not wait for a chat."""
        if self._thread is None:
            return
        while True:
            try:
                self._waiting.get_nowait()
            except queue.Empty:
                break
        self._waiting.put(None)
        self._thread.join(1.0)
        self._thread = None

    def tell(self, notices: Iterable[Notice]) -> None:
        """Hand on what is worth it; never waits."""
        wanted = [notice for notice in notices if notice.kind in self._kinds]
        if not self._outlets or not wanted or not self._is_ours():
            return
        for notice in wanted:
            try:
                self._waiting.put_nowait(notice)
            except queue.Full:
                log.warning("%d alerts wait to be sent; later ones are only in the page", MOST_WAITING)
                return

    def _run(self) -> None:
        send = fenced("an alert")(self._send)
        while (notice := self._waiting.get()) is not None:
            send(notice)

    def _send(self, notice: Notice) -> None:
        for outlet in self._outlets:
            trouble = outlet.send(notice)
            if trouble is not None:
                log.warning("an alert could not be sent: %s", trouble)


def outlets_of(settings: Settings) -> Outlets:
    """The channels that a server is configured to use."""
    chosen: list[Outlet] = [Desktop()] if settings.notify else []
    if settings.webhook is not None:
        chosen.append(Webhook(settings.webhook))
    kinds = settings.tell or USUAL
    if settings.ingest is None:
        return Outlets(chosen, kinds)
    return Outlets(chosen, kinds, ImportLock(settings.ingest, "alerts").take)


def kinds_of(text: str) -> tuple[str, ...]:
    """`failed,lost` as kinds; refuses an unknown word.

    >>> kinds_of("failed, nonfinite")
    ('failed', 'nonfinite')
    """
    kinds = tuple(word.strip() for word in text.split(",") if word.strip())
    for kind in kinds:
        if kind not in ALL_KINDS:
            raise ConfigError(f"{kind!r} is not a kind of alert; there are {', '.join(ALL_KINDS)}")
    return kinds
