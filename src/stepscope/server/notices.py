"""What a person wants to hear of without looking: a run failed or stalled, its loss is gone, a finding, an alert."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

import numpy as np

from stepscope.common.units import duration
from stepscope.errors import StepscopeError
from stepscope.records import FindingEvent
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.server.stalled import Stalled, StalledRun
from stepscope.views.alert_log import AlertLog, Watched
from stepscope.views.live import MAX_NOTICES
from stepscope.views.notice import Notice, NoticeKind
from stepscope.views.open_runs import OpenRuns

_MOST_OPENED = 32
"""So many changed runs are looked into for alerts; where more change at once, the table tells the story."""
_MOST_LOSSES = 20
_BAD: dict[str, tuple[NoticeKind, str]] = {
    "failed": ("failed", "failed"),
    "killed": ("failed", "was killed"),
    "lost": ("lost", "is lost: no word from it any more"),
}


class Notices:
    """Compares runs with how they were the last time, over restarts too. Runs that ended earlier are not reported."""

    def __init__(self, runs: OpenRuns, log: AlertLog | None = None, clock: Callable[[], float] = time.time) -> None:
        self._runs = runs
        self._log = log if log is not None else AlertLog()
        self._clock = clock
        self._began = clock()
        self._seen: dict[str, Watched] = dict(self._log.running)
        self._stalled = Stalled(runs, clock)

    def about(self, entries: Iterable[RunEntry], running: Iterable[RunEntry] = ()) -> list[Notice]:
        """What is new about runs that changed, and which of those that go on do not get on."""
        notices: list[Notice] = []
        entries = list(entries)
        for entry in entries:
            notices += self._one(entry, len(entries) <= _MOST_OPENED)
        notices += [self._no_step(one) for one in self._stalled.look(running)]
        return self._log.new(notices)[-MAX_NOTICES:]

    def _one(self, entry: RunEntry, openly: bool) -> list[Notice]:
        before = self._seen.get(entry.id)
        now = Watched(entry.status, entry.dropped, before.told_until if before is not None else self._began)
        self._seen[entry.id] = now
        if entry.status == "running":
            self._log.running[entry.id] = now
        else:
            self._log.running.pop(entry.id, None)
        lived = before is not None and before.status == "running"
        notices: list[Notice] = []
        if lived and entry.status in _BAD:
            kind, words = _BAD[entry.status]
            key = f"{entry.status}:{entry.ended}"
            notices.append(self._made(entry, kind, key, f"{entry.name} {words}", self._why(entry)))
        if before is not None and entry.dropped > before.dropped:
            words = f"{entry.name}: {entry.dropped - before.dropped} values could not be kept"
            notices.append(self._made(entry, "dropped", str(entry.dropped), words, "", error=False))
        if entry.status == "running" or lived:
            notices += self._nonfinite(entry)
            notices += self._events(entry, now) if openly else []
        return notices

    def _nonfinite(self, entry: RunEntry) -> list[Notice]:
        """A loss that is NaN or Inf now; one that was so for a step and came back is for the charts to show."""
        losses = [name for name in entry.metrics.names if "loss" in name.lower()][:_MOST_LOSSES]
        if entry.main is not None and entry.main not in losses:
            losses.append(entry.main)
        for name in losses:
            last = entry.metrics.number(name, "last")
            if last is not None and not math.isfinite(last) and entry.metrics.number(name, "count"):
                word = "NaN" if math.isnan(last) else "infinite"
                title = f"{name} is {word} in {entry.name}"
                made = self._made(entry, "nonfinite", name, title, "")
                if not self._log.knows(made.id):  # the series is read once, not at every look
                    made.text = self._since(entry, name)
                return [made]
        return []

    def _since(self, entry: RunEntry, name: str) -> str:
        """When the loss was lost, which may be long before we looked."""
        try:
            series = self._runs.get(entry.id).series(name)
        except StepscopeError:  # gone meanwhile
            return ""
        finite = np.flatnonzero(np.isfinite(series.values))
        lost = series.steps[int(finite[-1]) + 1 :] if len(finite) else series.steps
        return "" if len(lost) == 0 else f"{'at' if len(lost) == 1 else 'since'} step {int(lost[0]):,}"

    def _events(self, entry: RunEntry, seen: Watched) -> list[Notice]:
        """Alerts of the script and errors that were found, since the last time."""
        try:
            folder = self._runs.get(entry.id)
            alerts = [one for one in folder.alerts if one.time > seen.told_until]
            findings = [one for one in folder.events(FindingEvent) if one.time > seen.told_until]
        except StepscopeError:  # gone meanwhile
            return []
        if alerts or findings:
            seen.told_until = max(one.time for one in (*alerts, *findings))
        told = [
            Notice(run=entry.id, title=one.title, text=one.text, level=one.level, kind="alert",
                   id=f"{entry.id}/alert/{one.time}/{one.title}"[:200], time=one.time, name=entry.name,
                   project=entry.project)
            for one in alerts
            if not one.quiet
        ]  # fmt: skip
        for event in findings:
            one = event.finding
            if one.severity != "error":
                continue
            place = f"{one.file}:{one.line}" if one.file and one.line else one.file or ""
            words = " · ".join(part for part in (one.rule, place) if part)
            told.append(self._made(entry, "finding", f"{one.rule}:{place}", one.message, words))
        return told

    def _no_step(self, one: StalledRun) -> Notice:
        at = "" if one.step is None else f" after step {one.step:,}"
        usual = f"; a step usually takes {duration(one.usual_s)}" if one.usual_s else ""
        text = f"no new value for {duration(one.silent_s)}{at}{usual}"
        title = f"{one.entry.name} does not get on"
        return self._made(one.entry, "stalled", str(one.points), title, text, error=False)

    def _made(
        self, entry: RunEntry, kind: NoticeKind, key: str, title: str, text: str, *, error: bool = True
    ) -> Notice:
        return Notice(
            run=entry.id,
            title=title,
            text=text,
            level="error" if error else "warning",
            kind=kind,
            id=f"{entry.id}/{kind}/{key}"[:200],
            time=self._clock(),
            name=entry.name,
            project=entry.project,
        )

    def _why(self, entry: RunEntry) -> str:
        try:
            return self._runs.get(entry.id).standing.detail
        except StepscopeError:
            return ""
