"""The lines of a chart: the data of `POST /api/series`."""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import NotFound, UsageError
from stepscope.runs.points.downsample import Buckets, Floats
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import Line, SeriesData, SeriesRequest
from stepscope.views.context import Context
from stepscope.views.formula.series import is_formula, series_named
from stepscope.views.route import route

MAX_RUNS = 1000
MAX_KEYS = 1000
MAX_BUCKETS = 20_000
MAX_LINES = 20_000
TIME_S = 8.0
"""Time limit of a request that reads many runs for the first time; the page then asks again."""
CACHE_BYTES = 96 << 20
AXES = ("step", "relative", "wall")

T = TypeVar("T")


class Wanted(NamedTuple):
    """One requested line, before it is drawn."""

    found: Series
    axis: Series | None
    version: int
    superseded: bool


@route("POST", "/api/series")
def series(ctx: Context, request: SeriesRequest) -> SeriesData:
    """The lines of all visible panels."""
    answer = SeriesData(lines=[], missing=[])
    answer.lines += [_json(ctx.lines, one, request) for one in wanted_lines(ctx, request, answer)]
    return answer


def _json(cache: LineCache, one: Wanted, request: SeriesRequest) -> Line:
    """The type says `Line`; the value is mostly its JSON, ready to send."""
    if one.superseded:
        return draw(one.found, one.axis, one.version, request, True)

    def make() -> tuple[msgspec.Raw, int]:
        data = msgspec.json.encode(draw(one.found, one.axis, one.version, request))
        return msgspec.Raw(data), len(data)

    return cast("Line", cache.line(one.found, one.axis, request, "json", make))


def wanted_lines(ctx: Context, request: SeriesRequest, answer: SeriesData) -> Iterator[Wanted]:
    """The requested lines, run by run, until the time is up; records in `answer` what is missing or omitted."""
    _check(request)
    deadline, count = time.monotonic() + TIME_S, 0
    for run in dict.fromkeys(request.runs):
        if time.monotonic() > deadline or count > MAX_LINES:
            answer.partial = True
            return
        try:
            folder = ctx.runs.get(run)
        except NotFound as error:
            answer.missing.append(str(error))
            continue
        for one in _of_run(folder, ctx.catalogue.entry(run).version, request, answer.missing):
            count += 1
            yield one


def _check(request: SeriesRequest) -> None:
    if len(request.runs) > MAX_RUNS or len(request.keys) > MAX_KEYS:
        asked = f"{len(request.runs)} and {len(request.keys)}"
        raise UsageError(f"at most {MAX_RUNS} runs and {MAX_KEYS} keys at once, not {asked}; choose fewer")
    check_window(request.buckets, MAX_BUCKETS, request.lo, request.hi)


def check_window(buckets: int, most: int, *edges: float | None) -> None:
    """Reject an invalid number of buckets or range."""
    if not 1 <= buckets <= most:
        raise UsageError(f"buckets must be 1 to {most}, not {buckets}")
    for edge in edges:
        if edge is not None and not np.isfinite(edge):
            raise UsageError(f"the range must be finite, not {edge}")


def _of_run(folder: RunFolder, version: int, request: SeriesRequest, missing: list[str]) -> Iterator[Wanted]:
    names = set(folder.metrics())
    by_series = request.x not in AXES
    if by_series and request.x not in names and not is_formula(request.x):
        missing.append(f"{folder.name} ({folder.id}) has no series {request.x!r} to draw over")
        return
    for key in dict.fromkeys(request.keys):
        if key not in names and not is_formula(key):
            continue
        for rank in folder.ranks if request.ranks else [None]:
            try:
                found = series_named(folder, key, rank)
                axis = series_named(folder, request.x, found.rank) if by_series else None
            except NotFound:  # not of this rank
                continue
            except UsageError as error:  # an invalid formula breaks only its own panel
                missing.append(f"{key}: {str(error).splitlines()[0]}")
                break
            yield Wanted(found, axis, version, False)
            if request.superseded and key in names and (old := _superseded(folder, found)) is not None:
                yield Wanted(old, axis, version, True)


def _superseded(folder: RunFolder, found: Series) -> Series | None:
    """The points that a later attempt logged again, or None."""
    branches = folder.series(found.name, found.rank, superseded=True)
    mask = branches.superseded
    return branches[mask] if mask is not None and mask.any() else None


def draw(found: Series, axis: Series | None, version: int, request: SeriesRequest, superseded: bool = False) -> Line:
    """One line, at most `buckets` points and one beyond each end of a zoomed range. NaN becomes null."""
    line, buckets = draw_buckets(found, axis, version, request, superseded)
    line.x, line.value = buckets.x.tolist(), buckets.value.tolist()
    line.low, line.high = buckets.low.tolist(), buckets.high.tolist()
    line.smooth = None if buckets.smooth is None else buckets.smooth.tolist()
    return line


def draw_buckets(
    found: Series, axis: Series | None, version: int, request: SeriesRequest, superseded: bool = False
) -> tuple[Line, Buckets]:
    """The line without its columns, and its buckets."""
    zoomed = request.lo is not None or request.hi is not None
    smoothing = None if request.smoothing.kind == "none" else (request.smoothing.kind, request.smoothing.amount)
    buckets = found.downsample(
        request.buckets,
        request.x if axis is None else axis,
        request.lo,
        request.hi,
        smoothing=smoothing,
        neighbours=zoomed,
    )
    nan, above, below = (np.flatnonzero(odd) for odd in (buckets.nan, buckets.pos_inf, buckets.neg_inf))
    places = _Places(found, request.x if axis is None else axis, buckets)
    line = Line(
        run=found.run,
        key=found.name,
        rank=found.rank,
        x=[],
        value=[],
        low=[],
        high=[],
        smooth=None,
        nan=nan.tolist(),
        inf=[*above.tolist(), *(-below - 1).tolist()],
        points=len(found),
        superseded=superseded,
        last=float(found.values[-1]) if len(found) else None,
        version=version,
        nan_x=places.first(np.isnan, nan),
        inf_x=[*places.first(np.isposinf, above), *places.first(np.isneginf, below)],
    )
    return line, buckets


class _Places:
    """The position of a non-finite value inside its bucket: a bucket's own x is only its middle."""

    def __init__(self, found: Series, axis: str | Series, buckets: Buckets) -> None:
        self._found, self._axis, self._buckets = found, axis, buckets

    def first(self, is_odd: Callable[[Floats], npt.NDArray[np.bool_]], at: npt.NDArray[np.int64]) -> list[float]:
        """The x of the first such value in each of these buckets."""
        if not len(at):
            return []
        x, order = self._found.x(self._axis), self._buckets.order
        out: list[float] = []
        for start, count in zip(self._buckets.starts[at].tolist(), self._buckets.count[at].tolist(), strict=True):
            points = slice(start, start + count) if order is None else order[start : start + count]
            out.append(float(x[points][int(is_odd(self._found.values[points]).argmax())]))
        return out


class _Kept(NamedTuple):
    found: weakref.ref[Series]
    axis: weakref.ref[Series]
    data: Any
    size: int


class LineCache:
    """A cache of encoded lines. One is valid as long as its series is the same object: the reader creates a new one
    for new points."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], _Kept] = OrderedDict()

    def line(
        self,
        found: Series,
        axis: Series | None,
        request: SeriesRequest,
        form: str,
        make: Callable[[], tuple[T, int]],
    ) -> T:
        """The encoded line of a series; `make` creates it and returns its size."""
        key = (found.run, found.name, found.rank, form, *_wish(request))
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept.found() is found and kept.axis() is (found if axis is None else axis):
                self._kept.move_to_end(key)
                return cast("T", kept.data)
        data, size = make()
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._bytes += size - (replaced.size if replaced else 0)
            self._kept[key] = _Kept(weakref.ref(found), weakref.ref(found if axis is None else axis), data, size)
            while self._bytes > self._most_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= dropped.size
        return data


def _wish(request: SeriesRequest) -> tuple[object, ...]:
    return request.x, request.lo, request.hi, request.buckets, request.smoothing
