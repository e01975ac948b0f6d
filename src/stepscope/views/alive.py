"""The current state of live runs: newest point, speed, progress, machine load."""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import time as clock
from typing import Any, Literal

import msgspec
import numpy as np

from stepscope.diagnose.hangs import read_hang, waiting_words
from stepscope.errors import StepscopeError
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.progress import progress_of
from stepscope.views.route import route

MAX_RUNS = 200
RECENT = 200
"""Number of points used for the current speed."""
SILENT_S = 60.0
TIMES = 20
"""A run is stalled if it is silent for a minute and for this many of its usual gaps."""
_MOST_LOSSES = 20

State = Literal["moving", "quiet", "waiting", "stalled", "diverged"]


class AliveRequest(msgspec.Struct):
    runs: list[str]


class Alive(msgspec.Struct):
    """The current state of a run. Times are in seconds; None if unknown."""

    run: str
    state: State
    """quiet: nothing logged yet. waiting: ranks wait for one that may still come. stalled: silent for much longer than
    usual, or a hang. diverged: its loss is NaN or infinite."""
    why: str = ""
    """The state in a sentence."""
    step: int | None = None
    silent_s: float | None = None
    """Since the newest point, by the clock of the machine that logged it."""
    steps_per_s: float | None = None
    progress: float | None = None
    """0 to 1."""
    of: str = ""
    """Progress in words: `step 1,200 of 5,000`, `epoch 3.2 of 10`."""
    eta_s: float | None = None
    gpu_percent: float | None = None
    gpu_memory_percent: float | None = None
    memory_bytes: float | None = None
    cpu_percent: float | None = None


class AliveRuns(msgspec.Struct):
    runs: list[Alive]


@route("POST", "/api/alive")
def alive(ctx: Context, request: AliveRequest) -> AliveRuns:
    """The live runs of the request; ended runs are omitted."""
    found: list[Alive] = []
    for run in list(dict.fromkeys(request.runs))[:MAX_RUNS]:
        try:
            entry = ctx.catalogue.entry(run)
            if entry.status == "running":
                found.append(_one(entry, ctx.runs.get(run)))
        except StepscopeError:  # deleted, or not readable right now
            continue
    return AliveRuns(found)


def _one(entry: RunEntry, folder: RunFolder) -> Alive:
    now = _now(folder)
    machine = _machine(entry)
    densest = _densest(entry)
    hang = read_hang(folder.path)
    waiting = waiting_words(hang, folder.status, clock())
    held: State = "stalled" if hang is not None and hang.is_sure else "waiting"
    if densest is None:
        state, why = (held, waiting) if waiting else ("quiet", "no metric has been logged yet")
        return Alive(entry.id, state, why, **machine)
    series = folder.series(densest)
    silent = max(0.0, now - float(series.times[-1]))
    speed = _speed(series)
    progress = progress_of(entry.config, series, _epochs(entry, folder))
    left = None if progress is None else progress.left_steps
    state, why = (held, waiting) if waiting else _state(entry, series, silent)
    return Alive(
        entry.id,
        state,
        why,
        step=int(series.steps[-1]),
        silent_s=silent,
        steps_per_s=speed,
        progress=None if progress is None else progress.part,
        of="" if progress is None else progress.words,
        eta_s=left / speed if left is not None and speed and state == "moving" else None,
        **machine,
    )


def _now(folder: RunFolder) -> float:
    """The local time, or the run's heartbeat if that machine's clock is ahead."""
    return max(clock(), folder.heartbeat or 0.0)


def _own(entry: RunEntry) -> list[str]:
    return [name for name in entry.metrics.names if not name.startswith("system/")]


def _densest(entry: RunEntry) -> str | None:
    """The metric with the most points: the one logged at every step."""
    return max(_own(entry), key=lambda name: entry.metrics.number(name, "count") or 0, default=None)


def _speed(series: Series) -> float | None:
    steps, times = series.steps[-RECENT:], series.times[-RECENT:]
    took = float(times[-1] - times[0]) if len(times) > 1 else 0.0
    gone = int(steps[-1] - steps[0]) if len(steps) > 1 else 0
    return gone / took if took > 0 and gone > 0 else None


def _state(entry: RunEntry, series: Series, silent: float) -> tuple[State, str]:
    for name in [entry.main, *(name for name in _own(entry) if "loss" in name.lower())][:_MOST_LOSSES]:
        last = entry.metrics.number(name, "last") if name is not None else None
        if last is not None and not math.isfinite(last):
            return "diverged", f"{name} is {'NaN' if math.isnan(last) else 'infinite'}"
    gaps = np.diff(series.times[-RECENT:])
    usual = float(np.median(gaps)) if len(gaps) > 1 else 0.0
    if silent > max(SILENT_S, TIMES * usual):
        return "stalled", "nothing has been logged for much longer than usual"
    return "moving", ""


def _epochs(entry: RunEntry, folder: RunFolder) -> Series | None:
    name = next((name for name in entry.metrics.names if name.rpartition("/")[2].lower() == "epoch"), None)
    return folder.series(name) if name is not None else None


def _machine(entry: RunEntry) -> Mapping[str, Any]:
    """The newest machine metrics; the mean over several GPUs."""

    def newest(begins: str, ends: str = "") -> float | None:
        begins = f"system/{begins}"
        names = [name for name in entry.metrics.names if name.startswith(begins) and name.endswith(ends)]
        numbers = [entry.metrics.number(name, "last") for name in names]
        finite = [float(number) for number in numbers if number is not None and math.isfinite(number)]
        return sum(finite) / len(finite) if finite else None

    return {
        "gpu_percent": newest("gpu", "/use_percent"),
        "gpu_memory_percent": newest("gpu", "/memory_percent"),
        "memory_bytes": newest("process_rss_bytes"),
        "cpu_percent": newest("process_cpu_percent"),
    }
