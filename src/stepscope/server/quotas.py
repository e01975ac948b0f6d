"""How much a project or a user may fill. What does not fit stays on the machine that made it, and is sent later."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stepscope.common.units import bytes_text
from stepscope.database.engine import Database
from stepscope.errors import StorageError
from stepscope.server.policies import Policies, read_policies
from stepscope.server.run_storage import add_incoming, used_by

AGAIN_S = 5.0
_MOST_SEEN = 100_000


class QuotaUsedUp(StorageError):
    """Sent as 507: the client says so once and tries again later."""


class Quotas:
    """Several processes each count what they took in and add it up in the database every few seconds."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0
        self._policies = Policies({}, {})
        self._used: dict[str, dict[str, int]] = {"project": {}, "user": {}}
        self._pending: dict[tuple[str, str, str], int] = {}
        self._seen: set[str] = set()
        self._held = Counter[tuple[str, str]]()
        """What is being written now, by kind and name."""

    @contextmanager
    def room(self, project: str, user: str, size: int) -> Iterator[None]:
        """Refuse what would go beyond a quota, and hold its place until it is `added`: others arrive meanwhile."""
        with self._lock:
            self._refresh()
            limits = {
                "project": (project, self._policies.project(project).quota_bytes),
                "user": (user, self._policies.user(user).quota_bytes),
            }
            for kind, (name, limit) in limits.items():
                used = self._used[kind].get(name, 0)
                if limit is not None and used + self._held[kind, name] + size > limit:
                    raise QuotaUsedUp(_words(kind, name, used, limit))
            self._hold(project, user, size)
        try:
            yield
        finally:
            with self._lock:
                self._hold(project, user, -size)

    def _hold(self, project: str, user: str, size: int) -> None:
        for place in (("project", project), ("user", user)):
            self._held[place] += size
            if not self._held[place]:
                del self._held[place]

    def added(self, run: str, project: str, user: str, size: int) -> None:
        """Count what has come in. Who sent a run is written down with its first piece, the rest now and then."""
        with self._lock:
            place = (run, project, user)
            self._pending[place] = self._pending.get(place, 0) + size
            for kind, name in (("project", project), ("user", user)):
                self._used[kind][name] = self._used[kind].get(name, 0) + size
            if run not in self._seen:
                if len(self._seen) >= _MOST_SEEN:
                    self._seen.clear()
                self._seen.add(run)
                self._write()

    def flush(self) -> None:
        """Have everything that was counted in the database."""
        with self._lock:
            self._next = 0.0
            self._refresh()

    def _refresh(self) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._write()
        self._policies = read_policies(self._database)
        self._used = {
            "project": self._sums(
                "project", any(one.quota_bytes is not None for one in self._policies.projects.values())
            ),
            "user": self._sums("user_name", any(one.quota_bytes is not None for one in self._policies.users.values())),
        }
        self._next = now + AGAIN_S

    def _write(self) -> None:
        if self._pending:
            add_incoming(self._database, [(*place, size) for place, size in self._pending.items()])
            self._pending = {}

    def _sums(self, column: str, limited: bool) -> dict[str, int]:
        """Nobody adds up a million runs for a quota that nobody has set."""
        return {name: size for name, (_, size) in used_by(self._database, column).items()} if limited else {}


def _words(kind: str, name: str, used: int, limit: int) -> str:
    whose = f"project {name!r}" if kind == "project" else f"{name}"
    return (
        f"{whose} has filled {bytes_text(used)} of a quota of {bytes_text(limit)} on this server. Nothing is lost: the "
        "run stays on this machine and is sent once there is room. Delete runs on the server and empty its trash, or "
        "ask an admin for a larger quota"
    )
