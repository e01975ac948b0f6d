"""What a person wants to hear of without looking: a run failed or went silent, values were dropped, an alert."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from stepscope.errors import StepscopeError
from stepscope.records import Alert
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.views.live import MAX_NOTICES, Notice
from stepscope.views.opened import OpenRuns

__all__ = ["Notices"]

_MOST_OPENED = 32
"""So many changed runs are looked into for alerts; where more change at once, the table tells the story."""
_BAD = {"failed": "failed", "killed": "was killed", "lost": "is lost: no word from it any more"}


class _Seen(NamedTuple):
    status: str
    dropped: int


class Notices:
    """Compares runs with how they were the last time. What was so when the server started is no news."""

    def __init__(self, runs: OpenRuns) -> None:
        self._runs = runs
        self._seen: dict[str, _Seen] = {}
        self._told_until: dict[str, float] = {}
        self._began = time.time()

    def about(self, entries: Iterable[RunEntry]) -> list[Notice]:
        """What is new about runs that changed."""
        notices: list[Notice] = []
        entries = list(entries)
        for entry in entries:
            before = self._seen.get(entry.id)
            self._seen[entry.id] = _Seen(entry.status, entry.dropped)
            lives = entry.status == "running" or (before is not None and before.status == "running")
            if before is not None and before.status == "running" and entry.status in _BAD:
                notices.append(_notice(entry, f"{entry.name} {_BAD[entry.status]}", self._why(entry), "error"))
            if before is not None and entry.dropped > before.dropped:
                count = entry.dropped - before.dropped
                notices.append(_notice(entry, f"{entry.name}: {count} values could not be kept", "", "warning"))
            if lives and len(entries) <= _MOST_OPENED:
                notices += [
                    Notice(run=entry.id, title=alert.title, text=alert.text, level=alert.level)
                    for alert in self._new_alerts(entry)
                ]
        return notices[-MAX_NOTICES:]

    def _new_alerts(self, entry: RunEntry) -> list[Alert]:
        try:
            alerts = self._runs.get(entry.id).alerts
        except StepscopeError:  # gone meanwhile
            return []
        since = self._told_until.get(entry.id, self._began)
        new = [alert for alert in alerts if alert.time > since]
        if new:
            self._told_until[entry.id] = max(alert.time for alert in new)
        return new

    def _why(self, entry: RunEntry) -> str:
        try:
            return self._runs.get(entry.id).standing.detail
        except StepscopeError:
            return ""


def _notice(entry: RunEntry, title: str, text: str, level: str) -> Notice:
    return Notice(run=entry.id, title=title, text=text, level="error" if level == "error" else "warning")
