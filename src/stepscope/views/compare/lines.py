"""Groups of runs as lines with bands: the mean over seeds, and their spread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import NotFound, UsageError
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import Line, SeriesData, Smoothing
from stepscope.views.context import Context
from stepscope.views.formula.series import series_named
from stepscope.views.route import route
from stepscope.views.series import check_window

MAX_GROUPS = 200
MAX_MEMBERS = 1000
MAX_KEYS = 200
MAX_BUCKETS = 5000
TIME_S = 8.0
AXES = ("step", "relative", "wall")

Floats = npt.NDArray[np.float64]
Spread = Literal["range", "std", "sem"]
"""The band: from the lowest to the highest run, one standard deviation, or one standard error of the mean."""


class LineGroup(msgspec.Struct):
    id: str
    """Returned as the `run` of the group's lines."""
    runs: list[str]


class GroupLinesRequest(msgspec.Struct):
    groups: list[LineGroup]
    keys: list[str]
    x: str = "step"
    """step, relative, wall, or the name of a logged series."""
    lo: float | None = None
    hi: float | None = None
    buckets: int = 400
    smoothing: Smoothing = Smoothing()
    spread: Spread = "range"


@route("POST", "/api/compare/lines")
def compare_lines(ctx: Context, request: GroupLinesRequest) -> SeriesData:
    """One line per group and key: `value` is the mean of its runs, `low` and `high` the band.

    With smoothing, `smooth` is the mean of the runs' smoothed lines, and the band is computed from these.
    """
    _check(request)
    answer = SeriesData(lines=[], missing=[])
    deadline = time.monotonic() + TIME_S
    for group in request.groups:
        if time.monotonic() > deadline and answer.lines:
            answer.partial = True
            break
        folders, version = _folders(ctx, group, answer.missing)
        for key in dict.fromkeys(request.keys):
            line = group_line(group.id, key, _members(folders, key, request.x), request)
            if line is not None:
                line.version = version
                answer.lines.append(line)
    return answer


def _check(request: GroupLinesRequest) -> None:
    members = sum(len(group.runs) for group in request.groups)
    if len(request.groups) > MAX_GROUPS or members > MAX_MEMBERS or len(request.keys) > MAX_KEYS:
        asked = f"{len(request.groups)} groups of {members} runs and {len(request.keys)} keys"
        raise UsageError(f"{asked} are too many; at most {MAX_GROUPS}, {MAX_MEMBERS} and {MAX_KEYS} at once")
    check_window(request.buckets, MAX_BUCKETS, request.lo, request.hi)


def _folders(ctx: Context, group: LineGroup, missing: list[str]) -> tuple[list[RunFolder], int]:
    found, version = [], 0
    for run in dict.fromkeys(group.runs):
        try:
            found.append(ctx.runs.get(run))
            version = max(version, ctx.catalogue.entry(run).version)
        except NotFound as error:
            missing.append(str(error))
    return found, version


def _members(folders: Sequence[RunFolder], key: str, x: str) -> list[tuple[Series, str | Series]]:
    """The series of each run that has it, with its x values."""
    found: list[tuple[Series, str | Series]] = []
    for folder in folders:
        try:
            series = series_named(folder, key)
            found.append((series, x if x in AXES else series_named(folder, x, series.rank)))
        except (NotFound, UsageError):  # this run did not log it, or not over this axis
            continue
    return found


def group_line(
    group: str, key: str, members: Sequence[tuple[Series, str | Series]], request: GroupLinesRequest
) -> Line | None:
    """The runs of a group as one line.

    Each run is interpolated linearly to common x positions, without extrapolation; the mean at a position is over the
    runs that reach it. The band matches the drawn line: around a smoothed mean it is the spread of the smoothed lines,
    because a smoothed line lags and may leave the spread of the raw values.
    """
    smoothing = None if request.smoothing.kind == "none" else (request.smoothing.kind, request.smoothing.amount)
    columns = []
    for series, axis in members:
        one = series.downsample(
            request.buckets, axis, request.lo, request.hi, smoothing=smoothing, neighbours=request.lo is not None
        )
        if len(one):
            columns.append((one.x, one.value, one.value if one.smooth is None else one.smooth))
    if not columns:
        return None
    places = _places([x for x, _, _ in columns], request.buckets)
    values = np.array([_at(places, x, value) for x, value, _ in columns])
    places, values = _broken(places, values)
    mean, low, high = _band(values, request.spread)
    smooth = None
    if smoothing is not None:
        lines = np.array([_at(places, x, line) for x, _, line in columns])
        lines[~np.isfinite(values)] = np.nan  # the same runs at each position, and the same gaps
        smooth, low, high = _band(lines, request.spread)
    return Line(
        run=group,
        key=key,
        rank=0,
        x=places.tolist(),
        value=mean.tolist(),
        low=low.tolist(),
        high=high.tolist(),
        smooth=None if smooth is None else smooth.tolist(),
        nan=[],
        inf=[],
        points=sum(len(series) for series, _ in members),
        last=float(mean[-1]) if np.isfinite(mean[-1]) else None,
    )


def _places(xs: Sequence[Floats], buckets: int) -> Floats:
    """The x positions for the comparison: every x of any run, or evenly spaced if there are too many."""
    every = np.unique(np.concatenate(xs))
    if len(every) <= 2 * buckets:
        return every
    return np.linspace(every[0], every[-1], buckets)


def _broken(places: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Insert a gap where a run ends: the mean of the remaining runs is a different line, not a jump."""
    count = np.isfinite(values).sum(axis=0)
    ends = np.flatnonzero((count[1:] < count[:-1]) & (count[1:] > 0)) + 1
    middles = (places[ends - 1] + places[ends]) / 2
    return np.insert(places, ends, middles), np.insert(values, ends, np.nan, axis=1)


def _at(places: Floats, x: Floats, values: Floats) -> Floats:
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(len(places), np.nan)
    line: Floats = np.interp(places, x[finite], values[finite], left=np.nan, right=np.nan)
    if not finite.all():  # a run that turned to NaN and recovered must not appear continuous
        odd = np.zeros(len(places), dtype=bool)
        near = np.clip(np.searchsorted(x, places), 0, len(x) - 1)
        before = np.clip(near - 1, 0, len(x) - 1)
        odd |= ~finite[near] & (x[near] <= places)
        odd |= ~finite[before] & (places < x[near])
        line[odd] = np.nan
    return line


def _band(values: Floats, spread: Spread) -> tuple[Floats, Floats, Floats]:
    finite = np.isfinite(values)
    count = finite.sum(axis=0)
    some = count > 0
    with np.errstate(all="ignore"):
        mean = np.where(some, np.where(finite, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)
        if spread == "range":
            low = np.where(finite, values, np.inf).min(axis=0, initial=np.inf)
            high = np.where(finite, values, -np.inf).max(axis=0, initial=-np.inf)
            return mean, np.where(some, low, np.nan), np.where(some, high, np.nan)
        square = np.where(finite, (values - mean) ** 2, 0.0).sum(axis=0)
        wide = np.sqrt(square / np.maximum(count - 1, 1))
        if spread == "sem":
            wide = wide / np.sqrt(np.maximum(count, 1))
    return mean, mean - wide, mean + wide
