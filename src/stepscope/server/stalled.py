"""Runs that are alive and no longer get anywhere: a process that waits for a lock, a rank, a disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from stepscope.errors import StepscopeError
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.views.open_runs import OpenRuns

LEAST_S = 300.0
"""Compiling, evaluation, a checkpoint: so long a pause is usual."""
TIMES = 20
"""So many usual steps."""
AGAIN_S = 30.0
_RECENT = 1000
"""Points that say what is usual."""


@dataclass
class _Progress:
    version: int
    points: int
    since: float
    """When the last point came."""


@dataclass(frozen=True)
class StalledRun:
    entry: RunEntry
    points: int
    silent_s: float
    usual_s: float
    step: int | None


class Stalled:
    """Follows how many points running runs have. System metrics do not count: they go on while the training hangs."""

    def __init__(self, runs: OpenRuns, clock: Callable[[], float] = time.time) -> None:
        self._runs = runs
        self._clock = clock
        self._seen: dict[str, _Progress] = {}
        self._next = 0.0

    def look(self, entries: Iterable[RunEntry]) -> list[StalledRun]:
        """Runs without a step for longer than five minutes and twenty of their usual steps."""
        now = self._clock()
        if now < self._next:
            return []
        self._next = now + AGAIN_S
        going_on = {entry.id: entry for entry in entries if entry.status == "running"}
        self._seen = {run: seen for run, seen in self._seen.items() if run in going_on}
        found = (self._one(entry, now) for entry in going_on.values())
        return [one for one in found if one is not None]

    def _one(self, entry: RunEntry, now: float) -> StalledRun | None:
        seen = self._seen.get(entry.id)
        if seen is None or seen.version != entry.version:
            points = _points(entry)
            if seen is not None and seen.points == points:
                seen.version = entry.version
            else:
                since = now if seen is not None else self._last_point(entry, now)
                seen = self._seen[entry.id] = _Progress(entry.version, points, since)
        silent = now - seen.since
        if seen.points == 0 or silent <= LEAST_S:
            return None
        usual, step = self._usual(entry)
        if silent <= TIMES * usual:
            return None
        return StalledRun(entry, seen.points, silent, usual, step)

    def _last_point(self, entry: RunEntry, now: float) -> float:
        """When a run that we see for the first time logged last: by its own clock, which may differ from ours."""
        times = self._times(entry)
        try:
            heartbeat = self._runs.get(entry.id).heartbeat
        except StepscopeError:
            heartbeat = None
        return now - max(0.0, heartbeat - float(times[-1])) if len(times) and heartbeat is not None else now

    def _usual(self, entry: RunEntry) -> tuple[float, int | None]:
        times = self._times(entry)[-_RECENT:]
        usual = float(np.median(np.diff(times))) if len(times) > 2 else 0.0
        last = entry.metrics.number(entry.main, "last_step") if entry.main else None
        return max(0.0, usual), None if last is None else int(last)

    def _times(self, entry: RunEntry) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        try:
            folder = self._runs.get(entry.id)
            name = max(_own(entry), key=lambda name: entry.metrics.number(name, "count") or 0, default=None)
            times = folder.series(name).times if name is not None else np.empty(0)
        except StepscopeError:  # gone meanwhile
            return np.empty(0)
        return np.sort(times[np.isfinite(times)])


def _own(entry: RunEntry) -> list[str]:
    return [name for name in entry.metrics.names if not name.startswith("system/")]


def _points(entry: RunEntry) -> int:
    return sum(int(entry.metrics.number(name, "count") or 0) for name in _own(entry))
