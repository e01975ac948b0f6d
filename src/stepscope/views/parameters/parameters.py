"""The *Parameters* page: the runs' settings and outcomes, as columns of numbers."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from stepscope.common.metric_direction import Goal, goal_of
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.selection import ARCHIVED
from stepscope.runs.query.query import Field
from stepscope.views.context import Context
from stepscope.views.hues import hues_of
from stepscope.views.panel_order import metrics_in_order
from stepscope.views.parameters.columns import ParameterColumn, column_of, parameter_columns
from stepscope.views.route import route

MAX_RUNS = 10_000
MAX_METRICS = 500
MAX_EXTRA = 40
_HELD_OUT = {"val", "valid", "validation", "eval", "test", "dev"}
_STATS = ("best", "last", "min", "max", "mean")


class ParametersRequest(msgspec.Struct):
    query: str = ""
    runs: list[str] = []
    """Only these; none for all that match the query."""
    metric: str = ""
    """The outcome metric; none for the runs' main metric."""
    stat: str = "best"
    """best (minimum or maximum, by the goal; else the last), last, min, max or mean"""
    goal: Goal | None = None
    """The goal, if neither the runs nor the name tell."""
    metrics: list[str] = []
    """More metrics as columns."""
    unfinished: bool = False
    """Also failed, stopped or running runs, whose results so far say little about their settings."""


class Parameters(msgspec.Struct):
    """All runs, column by column; the list index is the run."""

    ids: list[str]
    names: list[str]
    statuses: list[str]
    created: list[float]
    ended: list[float | None]
    hues: list[int]
    columns: list[ParameterColumn]
    """The chosen metric first, then config that differs, then more metrics."""
    metric: str | None
    """The chosen metric, or None if the runs have none."""
    stat: str
    """Its statistic: last, min, max or mean."""
    goal: Goal | None
    """Its goal; None if it is neither defined nor evident from the name."""
    metrics: list[str]
    """All available metrics, most important first."""
    alike: int
    """Config keys with one value in all runs."""
    unique: list[str]
    """Text config keys that differ in nearly every run: they name a run and explain nothing."""
    omitted: int
    """Number of matching runs beyond the page's limit; the newest are here."""
    unfinished: int
    """Number of runs excluded because they did not finish."""
    version: int


class Chosen(msgspec.Struct):
    """The runs and the metric of a request."""

    entries: list[RunEntry]
    metrics: list[str]
    metric: str | None
    goal: Goal | None
    stat: str
    unfinished: int = 0

    @property
    def field(self) -> Field | None:
        return None if self.metric is None else Field("metric", self.metric, self.stat)


@route("POST", "/api/parameters")
def parameters(ctx: Context, request: ParametersRequest) -> Parameters:
    """What differs between the runs, and their main metric."""
    version = ctx.catalogue.version
    chosen = chosen_runs(ctx, request)
    entries = chosen.entries[:MAX_RUNS]
    found = parameter_columns(entries)
    more = [name for name in dict.fromkeys(request.metrics) if name != chosen.metric and name in set(chosen.metrics)]
    metrics = [Field("metric", name, _stat("best", goal_for(name, entries))) for name in more[:MAX_EXTRA]]
    fields = ([chosen.field] if chosen.field else []) + metrics
    ctx.catalogue.prefetch(entries, fields)
    now = time.time()
    columns = [column_of(field, [entry.value(field, now) for entry in entries]) for field in fields]
    first = columns[:1] if chosen.field else []
    of_run = hues_of(ctx, entries)
    return Parameters(
        ids=[entry.id for entry in entries],
        names=[entry.name for entry in entries],
        statuses=[entry.status for entry in entries],
        created=[entry.created for entry in entries],
        ended=[entry.ended for entry in entries],
        hues=[of_run.get(entry.id, 0) for entry in entries],
        columns=[*first, *found.columns, *columns[len(first) :]],
        metric=chosen.metric,
        stat=chosen.stat,
        goal=chosen.goal,
        metrics=chosen.metrics[:MAX_METRICS],
        alike=found.alike,
        unique=found.unique,
        omitted=len(chosen.entries) - len(entries),
        unfinished=chosen.unfinished,
        version=version,
    )


def chosen_runs(ctx: Context, request: ParametersRequest) -> Chosen:
    """The runs of a request, newest first, and its metric."""
    entries = ctx.catalogue.entries(request.query)
    if request.runs:
        wanted = set(request.runs)
        entries = [entry for entry in entries if entry.id in wanted]
    else:
        entries = [entry for entry in entries if ARCHIVED not in entry.tags]
    kept = entries if request.unfinished or request.runs else _finished(entries)
    unfinished, entries = len(entries) - len(kept), kept
    said = {name for entry in entries for name in entry.goals}
    counts = _metric_counts(entries)
    names = metrics_in_order(counts, said)
    metric = request.metric if request.metric in counts else _judged_by(names, counts, said)
    goal = None if metric is None else goal_for(metric, entries) or request.goal
    return Chosen(entries, names, metric, goal, _stat(request.stat, goal), unfinished)


def _finished(entries: list[RunEntry]) -> list[RunEntry]:
    """The runs that finished; all of them if none did, as there would be nothing to see."""
    return [entry for entry in entries if entry.status == "finished"] or entries


def goal_for(metric: str, entries: Sequence[RunEntry]) -> Goal | None:
    """A metric's goal: as defined by the newest run, else as its name suggests."""
    said = next((entry.goals[metric] for entry in entries if metric in entry.goals), None)
    return said or goal_of(metric)


def _metric_counts(entries: Sequence[RunEntry]) -> dict[str, int]:
    """Number of runs with each metric; runs with the same metrics share one tuple of names."""
    tuples: dict[int, tuple[tuple[str, ...], int]] = {}
    for entry in entries:
        names = entry.metrics.names
        tuples[id(names)] = (names, tuples.get(id(names), (names, 0))[1] + 1)
    counts: dict[str, int] = {}
    for names, runs in tuples.values():
        for name in names:
            counts[name] = counts.get(name, 0) + runs
    return counts


def _judged_by(names: Sequence[str], counts: dict[str, int], said: set[str]) -> str | None:
    """A metric with a user-defined goal, else one measured on held-out data, else the first."""
    usual = [name for name in names if counts[name] * 2 >= max(counts.values())]
    given = next((name for name in usual if name in said), None)
    held_out = (name for name in usual if goal_of(name) and _HELD_OUT & set(name.lower().replace("_", "/").split("/")))
    return given or next(held_out, None) or next(iter(usual), None)


def _stat(asked: str, goal: Goal | None) -> str:
    if asked not in _STATS:
        return "last"
    return asked if asked != "best" else goal or "last"
