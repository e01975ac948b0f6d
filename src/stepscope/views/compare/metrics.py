"""The metric table of a comparison: one row per metric, one column per run or group, with significance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
import numpy as np

from stepscope.common.metric_direction import Goal, goal_of
from stepscope.errors import NotFound
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.views.compare.columns import CompareColumn, Compared, columns_of, members
from stepscope.views.compare.statistics import bootstrap_interval, hedges_g, holm, permutation_p, welch
from stepscope.views.context import Context
from stepscope.views.panel_order import metrics_in_order
from stepscope.views.route import route
from stepscope.views.runs import Cell, cell

MAX_ROWS = 2000
MAX_CELLS = 200_000

Stat = Literal["last", "min", "max", "mean", "best"]
"""best: the minimum or maximum, by the metric's goal; the last value if the goal is unknown."""


class MetricsRequest(msgspec.Struct):
    runs: list[str]
    by: list[str] = []
    base: str | None = None
    """The column that others are compared with; the first if it is None or missing."""
    stat: Stat = "last"
    metrics: list[str] = []
    """Only these; all of them when empty."""
    system: bool = False
    """Also the machine's metrics (`system/...`)."""


class MetricRow(msgspec.Struct):
    """One metric over all columns; lists are aligned with the columns."""

    key: str
    goal: Goal | None
    stat: str
    """The statistic: last, min, max or mean."""
    value: list[Cell]
    """A run's value, or the mean of a group's finite values; None if nothing was logged."""
    best: float | None
    """The best column; None if the goal is unknown or all are equal."""
    differs: bool
    std: list[float | None] = []
    """The standard deviation over a group's runs (n - 1); empty if every column is one run."""
    n: list[int] = []
    """Number of runs in a group with a finite value; empty if every column is one run."""
    odd: list[int] = []
    """Number of runs in a group that ended with NaN or an infinity here; empty if there are none."""
    p: list[float | None] = []
    """Welch's t-test against the baseline; None if a side has fewer than two runs. Empty if all are None."""
    p_holm: list[float | None] = []
    """The same, corrected for all tests of this table."""


class MetricsTable(msgspec.Struct):
    compared: Compared
    base: str
    """The id of the baseline, "" if there is no column."""
    rows: list[MetricRow]
    tests: int
    """The number of tests in the table, for Holm's correction."""
    omitted: int = 0
    """Number of metrics beyond the page's limit."""


@route("POST", "/api/compare/metrics")
def compare_metrics(ctx: Context, request: MetricsRequest) -> MetricsTable:
    """Every metric of the columns, most important first."""
    compared = columns_of(ctx, request.runs, request.by)
    columns = compared.columns
    entries = [members(ctx, column) for column in columns]
    base = next((at for at, column in enumerate(columns) if column.id == request.base), 0)
    flat = [entry for group in entries for entry in group]
    goals = said(flat)
    names = _names(flat, goals, request)
    most = min(MAX_ROWS, MAX_CELLS // max(1, len(columns)))
    rows = [_row(name, entries, goals.get(name) or goal_of(name), request.stat, base) for name in names[:most]]
    tests = _corrected(rows)
    return MetricsTable(
        compared=compared,
        base=columns[base].id if columns else "",
        rows=rows,
        tests=tests,
        omitted=max(0, len(names) - most),
    )


def said(entries: Iterable[RunEntry]) -> dict[str, Goal]:
    """The user-defined goals; the newest run takes precedence."""
    goals: dict[str, Goal] = {}
    for entry in sorted(entries, key=lambda entry: entry.id):
        goals.update(entry.goals)
    return goals


def _names(entries: Sequence[RunEntry], goals: dict[str, Goal], request: MetricsRequest) -> list[str]:
    known = dict.fromkeys(entry.metrics.names for entry in entries)
    found = dict.fromkeys(name for names in known for name in names if request.system or not name.startswith("system/"))
    if not request.metrics:
        return metrics_in_order(found, goals)
    everything = {name for names in known for name in names}
    return [name for name in dict.fromkeys(request.metrics) if name in everything]


def stat_of(stat: Stat, goal: Goal | None) -> str:
    """The statistic used: `best` is the minimum or maximum, by the goal."""
    return (goal or "last") if stat == "best" else stat


def _row(name: str, entries: list[list[RunEntry]], goal: Goal | None, stat: Stat, base: int) -> MetricRow:
    shown = stat_of(stat, goal)
    value: list[Cell] = []
    finite: list[list[float]] = []
    odd: list[int] = []
    whole: list[Cell] = []
    for group in entries:
        values = values_of(group, name, shown)
        good = [one for one in values if math.isfinite(one)]
        finite.append(good)
        odd.append(len(values) - len(good))
        value.append(_value(values, good))
        # A group with a NaN, or with a failed or running run, is never the best.
        if not odd[-1] and all(entry.status == "finished" for entry in group):
            whole.append(value[-1])
    row = MetricRow(key=name, goal=goal, stat=shown, value=value, best=_best(whole, goal), differs=_differs(value))
    if any(len(group) > 1 for group in entries):
        _add_statistics(row, finite, odd, base)
    return row


def _add_statistics(row: MetricRow, finite: list[list[float]], odd: list[int], base: int) -> None:
    row.n = [len(good) for good in finite]
    row.std = [float(np.std(good, ddof=1)) if len(good) > 1 else None for good in finite]
    row.odd = odd if any(odd) else []
    tests = [None if at == base else welch(finite[base], good) for at, good in enumerate(finite)]
    if any(tests):
        row.p = [None if test is None else test.p for test in tests]


def values_of(entries: Iterable[RunEntry], name: str, stat: str) -> list[float]:
    """The number of each run that has one; NaN if a run has only non-finite values."""
    found = []
    for entry in entries:
        if name in entry.metrics:
            number = entry.metrics.number(name, stat)
            found.append(math.nan if number is None else float(number))
    return found


def _value(values: list[float], finite: list[float]) -> Cell:
    if not values:
        return None
    if len(values) == 1 or not finite:
        return cell(values[0])
    return cell(float(np.mean(finite)))


def _best(values: Sequence[Cell], goal: Goal | None) -> float | None:
    numbers = [value for value in values if isinstance(value, float)]
    if goal is None or len(numbers) < 2 or min(numbers) == max(numbers):
        return None
    return min(numbers) if goal == "min" else max(numbers)


def _differs(values: Sequence[Cell]) -> bool:
    return len(set(map(repr, values))) > 1


def _corrected(rows: Sequence[MetricRow]) -> int:
    """Holm's correction over every test of the table; returns their number."""
    places = [(row, at) for row in rows for at in range(len(row.p))]
    for row in rows:
        row.p_holm = [None] * len(row.p)
    corrected = holm([row.p[at] for row, at in places])
    for (row, at), p in zip(places, corrected, strict=True):
        row.p_holm[at] = p
    return sum(p is not None for p in corrected)


# -- one test in full ------------------------------------------------------------------------------------------------


class SignificanceRequest(msgspec.Struct):
    """One metric of two columns."""

    runs: list[str]
    metric: str
    a: str
    """The baseline's column."""
    b: str
    by: list[str] = []
    stat: Stat = "last"


class SignificanceSide(msgspec.Struct):
    column: CompareColumn
    values: list[Cell]
    """One per run that logged the metric."""
    n: int
    """The finite ones, which are tested."""
    mean: float | None
    std: float | None


class Significance(msgspec.Struct):
    metric: str
    stat: str
    goal: Goal | None
    a: SignificanceSide
    b: SignificanceSide
    difference: float | None
    """Of the means, b less a."""
    t: float | None = None
    df: float | None = None
    p: float | None = None
    low: float | None = None
    """Welch's 95% interval of the difference."""
    high: float | None = None
    permutation_p: float | None = None
    deals: int = 0
    """Number of permutations tried."""
    all_deals: bool = False
    bootstrap_low: float | None = None
    bootstrap_high: float | None = None
    effect: float | None = None
    """Hedges' g."""
    why_not: str = ""
    """Why there is no test."""


@route("POST", "/api/compare/test")
def compare_test(ctx: Context, request: SignificanceRequest) -> Significance:
    """The test behind one cell, with all its inputs."""
    compared = columns_of(ctx, request.runs, request.by)
    sides = [_column(compared, id) for id in (request.a, request.b)]
    entries = [members(ctx, side) for side in sides]
    goal = said([entry for group in entries for entry in group]).get(request.metric) or goal_of(request.metric)
    stat = stat_of(request.stat, goal)
    raw = [values_of(group, request.metric, stat) for group in entries]
    a, b = ([value for value in values if math.isfinite(value)] for values in raw)
    detail = Significance(
        metric=request.metric,
        stat=stat,
        goal=goal,
        a=_side(sides[0], raw[0], a),
        b=_side(sides[1], raw[1], b),
        difference=float(np.mean(b) - np.mean(a)) if a and b else None,
    )
    _fill(detail, a, b)
    return detail


def _column(compared: Compared, id: str) -> CompareColumn:
    found = next((column for column in compared.columns if column.id == id), None)
    if found is None:
        raise NotFound(
            f"there is no column {id[:80]!r} among the {len(compared.columns)} that are compared; reload the page"
        )
    return found


def _side(column: CompareColumn, raw: list[float], finite: list[float]) -> SignificanceSide:
    return SignificanceSide(
        column=column,
        values=[cell(value) for value in raw],
        n=len(finite),
        mean=float(np.mean(finite)) if finite else None,
        std=float(np.std(finite, ddof=1)) if len(finite) > 1 else None,
    )


def _fill(detail: Significance, a: list[float], b: list[float]) -> None:
    found = welch(a, b)
    if found is None:
        few = min(len(a), len(b)) < 2
        detail.why_not = (
            "a test needs two runs or more on each side: one run says nothing about chance"
            if few
            else "the runs on each side are identical, so there is no noise to test against"
        )
        return
    detail.t, detail.df, detail.p = found.t, found.df, found.p
    detail.low, detail.high = found.interval()
    dealt = permutation_p(a, b)
    if dealt is not None:
        detail.permutation_p, detail.deals, detail.all_deals = dealt
    interval = bootstrap_interval(a, b)
    if interval is not None:
        detail.bootstrap_low, detail.bootstrap_high = interval
    detail.effect = hedges_g(a, b)
