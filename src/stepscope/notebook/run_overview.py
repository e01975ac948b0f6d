"""A run at a glance: the panel's data, read from the run folder so that the training is not involved."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from stepscope.notebook.chart import ChartLine
from stepscope.records import Alert, Finding, Severity, Status
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.panel_order import metrics_in_order

MOST_CHARTS = 4
MOST_LINES = 4
MOST_VALUES = 10
POINTS = 80
_RATE_POINTS = 200
_LEAST_S = 0.2
"""In less time no rate can be computed."""
_COUNTERS = {"epoch", "epochs", "step", "steps", "global_step", "iter", "iteration", "batch"}
_BESIDE = ("system/", "time/", "memory/", "speed/")
_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class Chart:
    title: str
    lines: list[ChartLine]


@dataclass(frozen=True)
class Glance:
    name: str
    project: str
    id: str
    folder: str
    status: Status
    detail: str
    created: float
    duration_s: float
    step: int | None
    rate: float | None
    """Steps per second: recent while it runs, overall when it has ended."""
    charts: list[Chart]
    values: dict[str, float]
    """The newest values of metrics without a chart."""
    more: int
    """Number of metrics with neither."""
    findings: list[Finding]
    """Errors and warnings, most severe first."""
    alerts: list[Alert]
    dropped: int
    taken: float = field(default_factory=time.time)

    @property
    def is_over(self) -> bool:
        return self.status != "running"


def glance(folder: RunFolder) -> Glance:
    """The run's current state; call `folder.refresh()` first."""
    ordered, charted = _metrics_and_charts(folder)
    drawn = {name for names in charted.values() for name in names}
    rest = [name for name in ordered if name not in drawn]
    standing = folder.standing
    series = {name: folder.series(name) for name in drawn}
    steps = [int(one.steps[-1]) for one in series.values() if len(one)]
    return Glance(
        name=folder.name,
        project=folder.project,
        id=folder.id,
        folder=str(folder.path),
        status=standing.status,
        detail=standing.error or standing.detail,
        created=folder.created,
        duration_s=folder.duration_s,
        step=max(steps, default=None),
        rate=_rate(max(series.values(), key=len, default=None), standing.status),
        charts=[Chart(title, [line_of(title, series[name]) for name in names]) for title, names in charted.items()],
        values={name: folder.metric_summary(name).last for name in rest[:MOST_VALUES]},
        more=max(0, len(rest) - MOST_VALUES),
        findings=_errors_and_warnings(folder),
        alerts=folder.alerts[-3:],
        dropped=folder.dropped,
    )


def _metrics_and_charts(folder: RunFolder) -> tuple[list[str], dict[str, list[str]]]:
    """The metrics in display order, and those with a chart by its title."""
    own = [name for name in folder.metrics() if not name.startswith("system/")]
    logged = [name for name in own if not name.startswith(_BESIDE)]
    ordered = metrics_in_order(logged or own)
    drawable = [name for name in ordered if name.rpartition("/")[2].lower() not in _COUNTERS]
    groups = _grouped(drawable or ordered)
    return ordered, dict(list(groups.items())[:MOST_CHARTS])


def _errors_and_warnings(folder: RunFolder) -> list[Finding]:
    serious = [one for one in folder.findings if one.severity != "info"]
    return sorted(serious, key=lambda one: _ORDER[one.severity])


def _grouped(names: list[str]) -> dict[str, list[str]]:
    """Names with the same last part share a chart: `train/loss` and `val/loss`; ordered by first appearance."""
    found: dict[str, list[str]] = {}
    for name in names:
        leaf = name.rpartition("/")[2]
        members = found.setdefault(leaf, [])
        if len(members) < MOST_LINES:
            members.append(name)
    return {members[0] if len(members) == 1 else leaf: members for leaf, members in found.items()}


def line_of(title: str, series: Series) -> ChartLine:
    """A series as a line of the chart with this title."""
    buckets = series.downsample(POINTS)
    odd = (buckets.nan + buckets.pos_inf + buckets.neg_inf) > 0
    name = series.name.rpartition("/")[0] or series.name
    return ChartLine(
        name=name if title != series.name else series.name,
        x=buckets.x.tolist(),
        value=buckets.value.tolist(),
        low=buckets.low.tolist(),
        high=buckets.high.tolist(),
        bad=buckets.x[odd].tolist(),
        last=float(series.values[-1]) if len(series) else None,
        ends=(float(series.steps[0]), float(series.steps[-1])) if len(series) else None,
    )


def _rate(series: Series | None, status: Status) -> float | None:
    """Steps per second, from the times of points."""
    if series is None or len(series) < 2:
        return None
    steps, times = series.steps, series.times
    if status == "running":
        steps, times = steps[-_RATE_POINTS:], times[-_RATE_POINTS:]
    spent = float(np.max(times) - np.min(times))
    made = int(steps[-1]) - int(steps[0])
    return made / spent if spent > _LEAST_S and made > 0 else None
