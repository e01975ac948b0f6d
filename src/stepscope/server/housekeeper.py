"""The thread of a team server that finds work and does it: ended runs, retention, the trash.

What is to be done is in the database (`jobs.py`), so the processes of a server share it. Each finds runs that have
changed since they were last seen to; whichever comes first does the job.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from stepscope.errors import StepscopeError
from stepscope.fence import fenced
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.retention.plan import DAY_S
from stepscope.runs.trash import trashed_runs
from stepscope.server.jobs import Job, Jobs
from stepscope.server.policies import Policies, read_policies
from stepscope.server.retention import ENDED, RECENT_S, RunKeeper
from stepscope.server.run_storage import mark_trashed, stamps, touched
from stepscope.sync.fates import Fates
from stepscope.sync.objects import Objects

if TYPE_CHECKING:
    from stepscope.database.engine import Database
    from stepscope.runs.catalogue.catalogue import Catalogue

log = logging.getLogger("stepscope.server")

AGAIN_S = 10.0
SHARE = 50
"""After looking for work for t, which takes seconds among a million runs, rest for at least 50 t."""


class Housekeeper:
    """`start` and `stop` bracket its thread; `once` is one round."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: Path,
        objects: Objects | None,
        database: Database,
        rest_s: float = 60.0,
        again_s: float = AGAIN_S,
        retain_after_s: float = RECENT_S,
    ) -> None:
        self._catalogue, self._store, self._database = catalogue, store, database
        self._rest_s, self._again_s = rest_s, again_s
        self._keeper = RunKeeper(catalogue, store, objects, database, retain_after_s)
        self._fates = Fates(store)
        self._jobs = Jobs(database)
        self._seen: dict[str, tuple[str, float | None]] = {}
        self._policies = Policies({}, {})
        self._trashed: set[str] = set()
        self._finding_s = 0.0
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.failing: str | None = None
        """Why the last job failed."""

    @property
    def moved(self) -> int:
        """Runs that were moved to the object store by this process."""
        return self._keeper.moved

    def start(self) -> None:
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="stepscope-housekeeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(30)
            self._thread = None

    def _run(self) -> None:
        turn = fenced("keeping house")(self.once)
        while not self._stopping.wait(max(self._again_s, SHARE * self._finding_s)):
            turn()

    def once(self) -> None:
        """Find what is to be done, and do it until nothing is left."""
        self._fates.note()
        began = time.thread_time()
        self._find()
        self._finding_s = time.thread_time() - began
        while not self._stopping.is_set() and (job := self._jobs.take("run", "purge")) is not None:
            self._do(job)

    def _find(self) -> None:
        self._policies = read_policies(self._database)
        now = time.time()
        waiting = [entry for entry in self._catalogue.each() if self._needs_care(entry, now)]
        if waiting:  # perhaps another process has seen to them
            self._seen = stamps(self._database)
            self._jobs.add("run", (entry.id for entry in waiting if self._needs_care(entry, now)))
        trashed = trashed_runs([self._store])
        ids = {one.id for one in trashed}
        if ids != self._trashed:
            mark_trashed(self._database, ids)
            self._jobs.add("run", self._trashed - ids)  # restored, or purged by somebody
            self._trashed = ids
        self._jobs.add("purge", (one.id for one in trashed if now - one.deleted > self._trash_s(one.project)))

    def _trash_s(self, project: str) -> float:
        return self._policies.project(project).policy.trash_days * DAY_S

    def _needs_care(self, entry: RunEntry, now: float) -> bool:
        """Whether a run has changed since it was last seen to, or its time has come."""
        if entry.path.parent != self._store:
            return False
        if entry.status in ENDED and entry.ended is not None and now - entry.ended <= self._rest_s:
            return False
        stamp, due = self._seen.get(entry.id, ("", None))
        return stamp != self._stamp(entry) or (due is not None and due <= now)

    def _stamp(self, entry: RunEntry) -> str:
        """What a run looked like when it was seen to, and by which policy: for all processes."""
        if entry.status not in ENDED or entry.ended is None:
            return "going on"
        recent = time.time() - entry.ended < RECENT_S
        policy = crc32(repr(self._policies.project(entry.project).policy).encode())
        return f"{self._catalogue.stamp_of(entry)} {touched(entry.path) if recent else 0} {policy:08x}"

    def _do(self, job: Job) -> None:
        try:
            if job.kind == "run":
                self._keeper.see_to(job.subject, self._stamp, lambda: self._jobs.renew(job))
            elif job.kind == "purge":
                self._keeper.purge(job.subject)
        except (StepscopeError, OSError) as fault:
            self.failing = str(fault)
            log.warning("%s %s: %s", job.kind, job.subject, fault)
            self._jobs.failed(job, str(fault))
            return
        self.failing = None
        self._jobs.done(job)
