"""What a server does to a run that has ended: compact it, keep its project's policy, move it, note what it takes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.common.units import bytes_text, counted
from stepscope.errors import NotFound, StepscopeError
from stepscope.people.audit import note
from stepscope.records import Artifact
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.compact.compact import compact
from stepscope.runs.lineage import needed_by
from stepscope.runs.read.folder import open_run
from stepscope.runs.retention.carry_out import CarriedOut, carry_out
from stepscope.runs.retention.plan import DAY_S, Plan, Policy, due_at, plan_for
from stepscope.runs.trash import purge, trashed_runs
from stepscope.server.policies import read_policies
from stepscope.server.run_storage import forget_runs, measure, save
from stepscope.sync.archive import archive, drop, forget
from stepscope.sync.fates import Fates
from stepscope.sync.locks import PathLocks
from stepscope.sync.objects import Objects
from stepscope.sync.settled import settle
from stepscope.views.files.artifact_index import artifacts_in

if TYPE_CHECKING:
    from stepscope.database.engine import Database
    from stepscope.runs.catalogue.catalogue import Catalogue

log = logging.getLogger("stepscope.server")

FIRST = 500_000
"""Compacted files of a server begin with this number; those of a client never get there."""
RECENT_S = 86400.0
"""For this long after its end, files of a run may still be on their way, so nothing of it is removed."""
ENDED = ("finished", "stopped", "preempted", "failed")
_LOCKS = ".jobs"
_BY = "server"
"""Who the audit log names."""


class RunKeeper:
    """Sees to one run at a time; several processes may do so, each with another run."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: Path,
        objects: Objects | None,
        database: Database,
        retain_after_s: float = RECENT_S,
    ) -> None:
        self._catalogue, self._store, self._objects, self._database = catalogue, store, objects, database
        self._retain_after_s = retain_after_s
        self._fates = Fates(store)
        (store / _LOCKS).mkdir(exist_ok=True)
        self._locks = PathLocks(store / _LOCKS)
        self.moved = 0

    def see_to(self, run: str, stamp: Callable[[RunEntry], str], renew: Callable[[], None] = lambda: None) -> None:
        """Do for a run whatever is to be done now, and note what it takes."""
        try:
            entry = self._catalogue.entry(run)
        except NotFound:
            self._forget_purged(run)
            return
        with self._locks.locked(self._store / _LOCKS / run):
            due = None
            if entry.status in ENDED:
                settle(entry.path)
                compact(entry.path, first=FIRST)
                renew()
                due = self._retain(entry)
                renew()
                if self._objects is not None:
                    drop(entry.path, self._objects)
                    archive(entry.path, self._objects)
                    self.moved += 1
            sizes = measure(entry.path, open_run(entry.path).artifacts)
            save(self._database, run, entry.project, entry.name, sizes, stamp=stamp(entry), due=due)

    def _forget_purged(self, run: str) -> None:
        """Let go of the objects of a run that somebody has purged. One that is only missing may be on a lost disk."""
        in_trash = any(one.id == run for one in trashed_runs([self._store]))
        if in_trash or (self._store / run).exists() or self._fates.deleted(run) is None:
            return
        if self._objects is not None:
            forget(self._objects, run)
        forget_runs(self._database, [run])

    def _retain(self, entry: RunEntry) -> float | None:
        """Keep the project's policy; when to look at the run again."""
        policy = read_policies(self._database).project(entry.project).policy
        if entry.ended is None or policy == Policy(trash_days=policy.trash_days):
            return None
        now = time.time()
        settled = entry.ended + self._retain_after_s
        if now < settled:
            return settled
        folder = open_run(entry.path)
        plan = plan_for(folder, policy, now, self._needed(entry.project, policy))
        if plan:
            done = carry_out(entry.path, plan, now)
            if self._objects is not None and done.rewritten:
                drop(entry.path, self._objects, done.rewritten)
            if done.removed or done.rewritten:
                note(self._database, _BY, "retention", entry.id, detail=_words(plan, done))
        if policy.artifact_days is not None and len(folder.artifacts) > 1:
            return now + DAY_S  # what is used and newest changes with other runs
        due = due_at(entry.ended, policy)
        return due if due is not None and due > now else None

    def _needed(self, project: str, policy: Policy) -> Callable[[Artifact], bool]:
        if policy.artifact_days is None:
            return lambda artifact: True
        return needed_by(artifacts_in(self._catalogue.every(), project))

    def purge(self, run: str) -> None:
        """Remove a deleted run permanently whose time in the trash is up."""
        policies = read_policies(self._database)
        for one in trashed_runs([self._store]):
            if one.id != run or time.time() - one.deleted < policies.project(one.project).policy.trash_days * DAY_S:
                continue
            if self._objects is not None:
                forget(self._objects, run)
            purge(one)
            note(self._database, _BY, "purge", run, detail=f"{bytes_text(one.bytes)} of {one.project!r}")
            if not (self._store / run).exists():
                forget_runs(self._database, [run])


# -- a dry run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planned:
    entry: RunEntry
    plan: Plan


@dataclass
class Preview:
    """What a policy would remove if it were carried out now."""

    runs: list[Planned] = field(default_factory=list)
    looked_at: int = 0
    unread: list[str] = field(default_factory=list)
    """Runs that could not be read, with the reason; nothing of them would be removed."""
    partial: bool = False
    """There was no time for all runs."""

    @property
    def bytes(self) -> int:
        return sum(one.plan.bytes for one in self.runs)


def preview(
    entries: Iterable[RunEntry], every: Iterable[RunEntry], project: str, policy: Policy, limit_s: float | None = None
) -> Preview:
    """A dry run over these runs of a project; `every` run is asked what it uses."""
    began, now = time.monotonic(), time.time()
    found = Preview()
    needed = (lambda artifact: True) if policy.artifact_days is None else needed_by(artifacts_in(every, project))
    for entry in entries:
        if entry.project != project or entry.status not in ENDED:
            continue
        if limit_s is not None and time.monotonic() - began > limit_s:
            found.partial = True
            break
        found.looked_at += 1
        try:
            plan = plan_for(open_run(entry.path), policy, now, needed)
        except (StepscopeError, OSError) as fault:
            found.unread.append(f"{entry.id}: {fault}")
            continue
        if plan:
            found.runs.append(Planned(entry, plan))
    found.runs.sort(key=lambda one: -one.plan.bytes)
    return found


def _words(plan: Plan, done: CarriedOut) -> str:
    parts = []
    if done.points:
        parts.append(f"thinned by {counted(done.points, 'point')}")
    if plan.media:
        parts.append(f"removed {counted(len(plan.media), 'medium', 'media')}")
    if plan.artifacts:
        parts.append(f"removed {', '.join(list(plan.artifacts)[:20])}")
    return f"{bytes_text(done.bytes)}: {'; '.join(parts)}"
