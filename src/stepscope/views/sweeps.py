"""The *Sweeps* page: the status of each sweep of the stores, its best run so far, and pausing it.

Progress comes from the journals that `stepscope sweep` writes beside the runs. The charts are those of the
Parameters page for the sweep's name, which is the group of its runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec

from stepscope.errors import Forbidden, NotFound, StepscopeError
from stepscope.sweep.pausing import set_paused
from stepscope.sweep.status import Overview, overview, sweeps_in
from stepscope.sweep.trials import Trial
from stepscope.views.context import Context
from stepscope.views.edit import is_writable
from stepscope.views.route import Empty, route

MAX_TRIALS = 2000
"""The newest are listed; all are counted."""


class Setting(msgspec.Struct):
    name: str
    value: str


class SweepTrial(msgspec.Struct):
    """One trial and its outcome."""

    number: int
    state: str
    value: float | None
    run: str | None
    """The id of its run, once it exists."""
    settings: list[Setting]
    """The parameters that differ."""
    started: float
    ended: float | None
    reason: str


class SweepView(msgspec.Struct):
    id: str
    """Identifies it to this server: the index of its store and its folder there."""
    name: str
    state: Literal["running", "paused", "pausing", "done", "stopped"]
    """stopped: some runs are missing, and no process is working; pausing: the last ones still run"""
    method: str
    metric: str | None
    goal: Literal["min", "max"] | None
    total: int | None
    counts: dict[str, int]
    """Number of trials in each state."""
    results: int
    """Number of finished trials, whatever the outcome."""
    workers: int
    shared: bool
    started: float
    active_s: float
    left_s: float | None
    """Estimated time for the rest at the current pace."""
    best: SweepTrial | None
    trials: list[SweepTrial]
    """Newest first; the last ones if there are many."""
    can_pause: bool


class Sweeps(msgspec.Struct):
    sweeps: list[SweepView]
    """Last started first."""
    problems: list[str]


class PauseRequest(msgspec.Struct):
    sweep: str
    paused: bool


@route("POST", "/api/sweeps")
def sweeps(ctx: Context, request: Empty) -> Sweeps:
    """Every sweep of the stores."""
    found, problems = [], []
    for number, store in enumerate(ctx.catalogue.stores):
        for folder in sweeps_in(store):
            try:
                seen = overview(folder)
            except (StepscopeError, OSError) as fault:
                problems.append(f"{folder.name}: {fault}")
                continue
            if seen is not None:
                can_pause = not ctx.read_only and is_writable(folder)
                found.append(_view(f"{number}/{folder.name}", seen, can_pause))
    found.sort(key=lambda one: -one.started)
    return Sweeps(found, problems)


@route("POST", "/api/sweeps/pause")
def pause_sweep(ctx: Context, request: PauseRequest) -> Empty:
    """Pause the processes of a sweep after their current runs, or resume them."""
    folder = _folder(ctx, request.sweep)
    if ctx.read_only or not is_writable(folder):
        raise Forbidden("this server may not change the sweep: the server or the folder is read-only")
    set_paused(folder, request.paused)
    return Empty()


def _folder(ctx: Context, sweep: str) -> Path:
    number, _, name = sweep.partition("/")
    if number.isdecimal() and int(number) < len(ctx.catalogue.stores):
        for folder in sweeps_in(ctx.catalogue.stores[int(number)]):
            if folder.name == name:
                return folder
    raise NotFound(f"there is no sweep {sweep!r} in the stores of this server; reload the page")


def _view(name: str, seen: Overview, can_pause: bool) -> SweepView:
    sweep, trials = seen.sweep, seen.trials
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial.state] = counts.get(trial.state, 0) + 1
    results = sum(trial.is_over for trial in trials)
    is_done = seen.total is not None and results >= seen.total
    if is_done:
        state: Any = "done"
    elif not seen.workers:
        state = "stopped"
    elif seen.is_paused:
        state = "pausing" if counts.get("running") else "paused"
    else:
        state = "running"
    left = None
    if state == "running" and seen.total is not None and results:
        left = seen.active_s / results * (seen.total - results)
    newest = sorted(trials, key=lambda one: one.number, reverse=True)[:MAX_TRIALS]
    varied = list(sweep.space.varied)
    return SweepView(
        id=name,
        name=sweep.name,
        state=state,
        method=sweep.method,
        metric=None if sweep.metric is None else sweep.metric.name,
        goal=None if sweep.metric is None else sweep.metric.goal,
        total=seen.total,
        counts=counts,
        results=results,
        workers=seen.workers,
        shared=seen.is_shared,
        started=seen.started,
        active_s=seen.active_s,
        left_s=left,
        best=None if seen.best is None else _trial(seen.best, varied),
        trials=[_trial(one, varied) for one in newest],
        can_pause=can_pause,
    )


def _trial(trial: Trial, varied: list[str]) -> SweepTrial:
    value = trial.value
    return SweepTrial(
        number=trial.number,
        state=trial.state,
        value=value if value is not None and abs(value) < float("inf") else None,
        run=None if trial.run is None else os.path.basename(trial.run),
        settings=[Setting(name, _said(trial.params.get(name))) for name in varied],
        started=trial.started,
        ended=trial.ended,
        reason=trial.reason,
    )


def _said(value: Any) -> str:
    """A short form of a value.

    >>> _said(0.0123456789), _said("adam"), _said([1, 2])
    ('0.01235', 'adam', '[1, 2]')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)
