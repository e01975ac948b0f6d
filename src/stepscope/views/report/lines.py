"""The lines in a self-contained report: fine enough to zoom, small enough to email."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from stepscope.errors import NotFound, UsageError
from stepscope.report.page import packed_bytes
from stepscope.runs.points.downsample import Buckets, Floats
from stepscope.runs.points.series import Series
from stepscope.views.charts import Line, SeriesRequest, Smoothing
from stepscope.views.context import Context
from stepscope.views.formula.series import series_named
from stepscope.views.series import draw

BUCKETS = 2000
FEWEST = 100
_DIGITS = 7


class LineWish(NamedTuple):
    """A series that a panel of the report draws."""

    run: str
    key: str
    axis: str
    """`step`, or the name of a series."""
    smooth: str


class PackedLine(msgspec.Struct, omit_defaults=True):
    """A compact `Line`: values that follow from others are omitted."""

    run: str
    key: str
    rank: int
    axis: str
    value: list[float]
    points: int
    x: list[float] | None = None
    x0: int | None = None
    dx: list[int] | None = None
    """In place of `x` if it has integers: the first, and the differences."""
    low: list[float] | None = None
    high: list[float] | None = None
    """None: the same as `value`."""
    nan: list[int] = []
    inf: list[int] = []
    nan_x: list[float] = []
    inf_x: list[float] = []
    last: float | None = None
    relative: list[float] | None = None
    """Seconds since the run started, at each position."""
    started: float | None = None
    smoothed: dict[str, list[float]] = {}
    """Smoothed lines, computed over all points, by their option (`ema:0.6`)."""
    bands: dict[str, tuple[list[float], list[float]]] = {}
    """For a group: the minimum and maximum around each of these smoothed lines."""
    group: list[str] | None = None
    """For a line of several runs: their ids. It then has no `run`, and a band from `low` to `high`."""


def packed_lines(
    ctx: Context, wishes: Sequence[LineWish], budget: int, leave_out: Callable[[str], None]
) -> list[PackedLine]:
    """All lines at one resolution: the finest that fits the budget."""
    buckets = BUCKETS
    while True:
        found = _lines(ctx, wishes, buckets)
        if buckets <= FEWEST or packed_bytes(found) <= budget:
            break
        buckets //= 2
    coarse = sum(line.points > 3 * buckets for line in found)
    if coarse and buckets < BUCKETS:
        leave_out(
            f"To keep this file small, {coarse} {'line has' if coarse == 1 else 'lines have'} "
            f"{buckets} positions each; their minima and maxima are preserved."
        )
    return found


def packed_group(line: Line, smoothed: Line | None, runs: Sequence[str], axis: str, smooth: str) -> PackedLine:
    """The line of a group from `/api/compare/lines`, requested raw and with the smoothing."""
    found = PackedLine(
        run="",
        key=line.key,
        rank=0,
        axis=axis,
        value=_short(_numbers(line.value)),
        points=line.points,
        low=_short(_numbers(line.low)),
        high=_short(_numbers(line.high)),
        group=list(runs),
    )
    if smoothed is not None and smoothed.smooth is not None:
        found.smoothed = {smooth: _short(_numbers(smoothed.smooth))}
        found.bands = {smooth: (_short(_numbers(smoothed.low)), _short(_numbers(smoothed.high)))}
    _put_x(found, np.array(line.x, dtype=np.float64))
    return found


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def smoothing_of(text: str) -> Smoothing:
    """`ema:0.6` as the charts' own setting; invalid text means no smoothing.

    >>> smoothing_of("ema:0.6")
    Smoothing(kind='ema', amount=0.6)
    """
    kind, _, amount = text.partition(":")
    try:
        return msgspec.convert({"kind": kind, "amount": float(amount or 0)}, Smoothing)
    except (ValueError, msgspec.ValidationError):
        return Smoothing()


def _lines(ctx: Context, wishes: Sequence[LineWish], buckets: int) -> list[PackedLine]:
    found: dict[tuple[str, str, str], PackedLine] = {}
    for wish in wishes:
        place = (wish.run, wish.key, wish.axis)
        line = found.get(place)
        try:
            series = series_named(ctx.runs.get(wish.run), wish.key)
            places = _places(series, buckets)
            axis = None if wish.axis == "step" else series_named(ctx.runs.get(wish.run), wish.axis, series.rank)
        except (NotFound, UsageError):
            continue
        if line is None:
            line = found[place] = _packed(series, axis, wish.axis, places)
        smoothing = smoothing_of(wish.smooth)
        if smoothing.kind != "none" and wish.smooth not in line.smoothed:
            smooth = series.downsample(places, axis or "step", smoothing=(smoothing.kind, smoothing.amount)).smooth
            line.smoothed[wish.smooth] = _short(smooth if smooth is not None else np.empty(0))
    return list(found.values())


def _places(series: Series, buckets: int) -> int:
    """A bucket takes three numbers and a point one: up to this many, all points cost no more."""
    return len(series) if buckets < len(series) <= 3 * buckets else buckets


def _packed(series: Series, axis: Series | None, name: str, buckets: int) -> PackedLine:
    drawn: Line = draw(series, axis, 0, SeriesRequest(runs=[], keys=[], x=name, buckets=buckets))
    seen = series.downsample(buckets, axis or "step")
    line = PackedLine(
        run=series.run,
        key=series.name,
        rank=series.rank,
        axis=name,
        value=_short(seen.value),
        points=drawn.points,
        nan=drawn.nan,
        inf=drawn.inf,
        nan_x=drawn.nan_x,
        inf_x=drawn.inf_x,
        last=drawn.last,
        relative=_relative(series, seen),
        started=series.start,
    )
    if not (_same(seen.low, seen.value) and _same(seen.high, seen.value)):
        line.low, line.high = _short(seen.low), _short(seen.high)
    _put_x(line, seen.x)
    return line


def _put_x(line: PackedLine, x: Floats) -> None:
    if len(x) and bool((x == np.floor(x)).all()) and abs(x).max() < 2**53:
        line.x0, line.dx = int(x[0]), np.diff(x).astype(np.int64).tolist()
    else:
        line.x = _short(x, 12)


def _relative(series: Series, seen: Buckets) -> list[float]:
    """The time at the middle point of each bucket."""
    places = seen.starts + (seen.count - 1) // 2
    times = series.times if seen.order is None else series.times[seen.order]
    if not len(places):
        return []
    since = times[places] - series.start
    digits = 6 - math.ceil(math.log10(max(float(np.abs(since).max()), 1e-3)))  # a chart has fewer than 10**6 positions
    return np.round(since, max(0, digits)).tolist()  # type: ignore[no-any-return]


def _same(a: Floats, b: Floats) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))


def _short(values: Floats, digits: int = _DIGITS) -> list[float]:
    """Rounded to visible digits. Non-numbers become null.

    >>> _short(np.array([0.1234567891, 0.0, -98765432.1, 1e-300, np.inf]))
    [0.1234568, 0.0, -98765430.0, 1e-300, nan]
    """
    finite = np.where(np.isfinite(values), values, 0.0)
    size = np.where(finite == 0, 1.0, np.abs(finite))
    places = np.clip(digits - 1 - np.floor(np.log10(size)), -22, 22)  # powers of ten up to here are exact
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    short = np.where(size > 1e-15, np.round(finite * up / down) / up * down, finite)
    return np.where(np.isfinite(values), short, np.nan).tolist()  # type: ignore[no-any-return]
