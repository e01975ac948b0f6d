"""The thread that looks at the stores, tells open pages what changed, and compacts ended runs in between."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import msgspec

from stepscope.errors import StepscopeError
from stepscope.fence import fenced
from stepscope.server.alert_channels import Outlets
from stepscope.server.notices import Notices
from stepscope.server.settings import Settings
from stepscope.server.tidy import Tidy
from stepscope.views.alert_log import AlertLog
from stepscope.views.live import Hub, Live, RunChange, merged
from stepscope.views.open_runs import OpenRuns

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue, Changes
    from stepscope.server.edited_runs import EditedRuns

log = logging.getLogger("stepscope.server")

IDLE_S = 10.0
"""How often to look when no page is open: only so that the first one has little to catch up with."""
STALE_S = 2.0
RUNG_S = 0.1
"""The same once another process has said that something changed."""
MOST_NAMED = 1000
"""Changed runs that are sent to pages by name; where more change at once, the newest."""
MANY = 20_000
QUICK_S = 0.3
"""Among many runs, looks that take longer are left to the thread: no request waits for one."""
SHARE = 10
"""After a poll that took t, rest for at least 10 t, so that a slow disk is not kept busy."""


class Watch:
    """Keeps the catalogue fresh. `start` and `stop` bracket its thread; `fresh` is for requests."""

    def __init__(
        self,
        catalogue: Catalogue,
        runs: OpenRuns,
        hub: Hub,
        settings: Settings,
        alerts: AlertLog | None = None,
        outlets: Outlets | None = None,
        edits: EditedRuns | None = None,
    ) -> None:
        """`edits` are those of all processes that serve the same stores."""
        self._catalogue = catalogue
        self._hub = hub
        self._poll_s = settings.poll_s
        self._notices = Notices(runs, alerts)
        self._outlets = outlets or Outlets((), ())
        self._tidy = Tidy() if settings.compact and not settings.read_only and settings.ingest is None else None
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._looking = threading.Lock()
        self._looked = float("-inf")
        self._took = 0.0
        self._edits = edits
        self._catching_up = threading.Lock()
        self._rung = False
        self._last: Live | None = None
        self._thread: threading.Thread | None = None
        hub.on_listener = self._wake.set
        self.on_change: Callable[[], object] = self.wake
        """Told when this process has taken in a part of a run."""

    def start(self) -> None:
        self._stopping.clear()
        self._outlets.start()
        self._thread = threading.Thread(target=self._run, name="stepscope-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._hub.close()
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(10)
            self._thread = None
        self._outlets.stop()

    def wake(self) -> None:
        """Look now, unless a look has just been: something has changed. May be called often, from any thread."""
        self._rung = True
        if len(self._hub):
            self._wake.set()

    def fresh(self) -> None:
        """Make sure that what a request sees is at most a moment old, also when nobody was watching.

        What people changed is always seen. Among very many runs, the rest is as old as the thread's last look.
        """
        if self._edits is not None:
            with self._catching_up:  # who comes meanwhile must not be answered before it is done
                runs = self._edits.new()
                if runs is None:
                    self.look()
                elif runs:
                    self._look(runs)
        limit = max(RUNG_S, SHARE * self._took) if self._rung else STALE_S
        if time.monotonic() - self._looked <= limit or self._looking.locked():
            return
        if self._took <= QUICK_S or len(self._catalogue) <= MANY:
            self.look()

    def edited(self, runs: Collection[str]) -> None:
        """Look at runs that somebody has changed through this process, and have the others look at them."""
        self._look(runs)
        if self._edits is not None:
            self._edits.add(runs)

    def look(self) -> None:
        """Look once and tell what changed."""
        self._rung = False
        self._look(None)

    def _look(self, runs: Collection[str] | None) -> None:
        with self._looking:
            began = time.monotonic()
            changes = self._catalogue.refresh(self._reading, runs)
            if runs is None:
                self._looked = time.monotonic()
                self._took = self._looked - began
            news = self._news(changes)
            told = self._repeated(news) if runs is None else news
            if told.changed or told.gone or news.notices:
                self._hub.publish(told)
            self._outlets.tell(news.notices)

    def _repeated(self, news: Live) -> Live:
        """The news with those of the look before: where there are several processes, a page may have asked one that
        had not looked yet, and asks again.
        """
        before, self._last = self._last, news if self._edits is not None else None
        if before is None or not (before.changed or before.gone):
            return news
        return merged(msgspec.structs.replace(before, notices=[]), news)

    def _reading(self, done: int, total: int) -> None:
        """A long first look has more runs to show: pages ask for them and say how many are left."""
        version = self._catalogue.version
        if version != self._hub.version and self._catalogue.unread:
            self._hub.publish(Live(version=version, changed=[], gone=[]))

    def _news(self, changes: Changes) -> Live:
        entries = [self._catalogue.entry(run) for run in changes.changed]
        named = entries[-MOST_NAMED:]  # ids begin with the time: the newest
        return Live(
            version=changes.version,
            changed=[RunChange(id=entry.id, version=entry.version, status=entry.status) for entry in named],
            gone=changes.gone,
            notices=self._notices.about(entries, self._catalogue.running()),
        )

    def _run(self) -> None:
        # A thread that dies leaves every page stale silently: an internal error is reported and polling continues.
        turn = fenced("polling the runs")(self._turn)
        while not self._stopping.is_set():
            began = time.monotonic()
            turn()
            took = time.monotonic() - began
            self._stopping.wait(min(self._poll_s, SHARE * took))  # however often it is rung for
            self._wake.clear()
            self._wake.wait(max(self._poll_s if len(self._hub) else IDLE_S, SHARE * took))

    def _turn(self) -> None:
        try:
            self.look()
            if self._tidy is not None:
                self._tidy.some(self._catalogue, self._stopping)
        except (StepscopeError, OSError) as error:  # a store that was unplugged comes back
            log.warning("cannot look at the runs: %s", error)
