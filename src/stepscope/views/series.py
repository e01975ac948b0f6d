"""The lines of a chart: what stands behind `POST /api/series`."""

from __future__ import annotations

import base64
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import NotFound, UsageError
from stepscope.runs.points.downsample import Buckets, Floats
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import Line, PackedColumns, SeriesData, SeriesRequest
from stepscope.views.context import Context
from stepscope.views.route import route

__all__ = ["LineCache", "check_window", "series"]

MAX_RUNS = 1000
MAX_KEYS = 1000
MAX_BUCKETS = 20_000
MAX_LINES = 20_000
TIME_S = 8.0
"""A request that reads many runs for the first time answers with what it has by then; the page asks again."""
CACHE_BYTES = 96 << 20
AXES = ("step", "relative", "wall")


@route("POST", "/api/series")
def series(ctx: Context, request: SeriesRequest) -> SeriesData:
    """The lines of all visible panels."""
    _check(request)
    answer = SeriesData(lines=[], missing=[])
    deadline = time.monotonic() + TIME_S
    for run in dict.fromkeys(request.runs):
        if time.monotonic() > deadline or len(answer.lines) > MAX_LINES:
            answer.partial = True
            break
        try:
            folder = ctx.runs.get(run)
        except NotFound as error:
            answer.missing.append(str(error))
            continue
        answer.lines += _lines(ctx.lines, folder, ctx.catalogue.entry(run).version, request, answer.missing)
    return answer


def _check(request: SeriesRequest) -> None:
    if len(request.runs) > MAX_RUNS or len(request.keys) > MAX_KEYS:
        asked = f"{len(request.runs)} and {len(request.keys)}"
        raise UsageError(f"at most {MAX_RUNS} runs and {MAX_KEYS} keys at once, not {asked}")
    check_window(request.buckets, MAX_BUCKETS, request.lo, request.hi)


def check_window(buckets: int, most: int, *edges: float | None) -> None:
    """Refuses a number of buckets or a range that no chart has."""
    if not 1 <= buckets <= most:
        raise UsageError(f"buckets must be 1 to {most}, not {buckets}")
    for edge in edges:
        if edge is not None and not np.isfinite(edge):
            raise UsageError(f"the range must be finite, not {edge}")


def _lines(
    cache: LineCache, folder: RunFolder, version: int, request: SeriesRequest, missing: list[str]
) -> Iterator[Line]:
    names = set(folder.metrics())
    by_series = request.x not in AXES
    if by_series and request.x not in names:
        missing.append(f"{folder.name} ({folder.id}) has no series {request.x!r} to draw over")
        return
    for key in dict.fromkeys(request.keys):
        if key not in names:
            continue
        for rank in folder.ranks if request.ranks else [None]:
            try:
                found = folder.series(key, rank)
                axis = folder.series(request.x, found.rank) if by_series else None
            except NotFound:  # not of this rank
                continue
            yield cache.line(found, axis, version, request)
            if request.superseded and (old := _superseded(folder, found)) is not None:
                yield draw(old, axis, version, request, superseded=True)


def _superseded(folder: RunFolder, found: Series) -> Series | None:
    """The points that a later attempt has logged again, or None."""
    branches = folder.series(found.name, found.rank, superseded=True)
    mask = branches.superseded
    return branches[mask] if mask is not None and mask.any() else None


def draw(found: Series, axis: Series | None, version: int, request: SeriesRequest, superseded: bool = False) -> Line:
    """One line, at most `buckets` points and one beyond each end of a zoomed range. NaN leaves as null."""
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
    plain = not request.packed
    return Line(
        run=found.run,
        key=found.name,
        rank=found.rank,
        x=buckets.x.tolist() if plain else [],
        value=buckets.value.tolist() if plain else [],
        low=buckets.low.tolist() if plain else [],
        high=buckets.high.tolist() if plain else [],
        smooth=buckets.smooth.tolist() if plain and buckets.smooth is not None else None,
        packed=None if plain else pack(buckets),
        nan=nan.tolist(),
        inf=[*above.tolist(), *(-below - 1).tolist()],
        points=len(found),
        superseded=superseded,
        last=float(found.values[-1]) if len(found) else None,
        version=version,
        nan_x=places.first(np.isnan, nan),
        inf_x=[*places.first(np.isposinf, above), *places.first(np.isneginf, below)],
    )


def pack(buckets: Buckets) -> PackedColumns:
    """The columns as bytes in base64: a page with a hundred runs gets half the bytes and parses none of them."""
    return PackedColumns(
        x=_floats(buckets.x),
        value=_floats(buckets.value),
        low=_distance(buckets.value - buckets.low),
        high=_distance(buckets.high - buckets.value),
        smooth=None if buckets.smooth is None else _floats(buckets.smooth),
    )


def _floats(values: Floats) -> str:
    with np.errstate(over="ignore"):
        short = values.astype("<f4")
    exact = np.array_equal(short, values, equal_nan=True)
    return f"f{4 if exact else 8}:" + base64.b64encode((short if exact else values.astype("<f8")).tobytes()).decode()


def _distance(values: Floats) -> str:
    """How far an extreme is from the value: seven digits of that are more than a screen can show."""
    if not np.any(values):  # NaN counts as something
        return ""
    with np.errstate(over="ignore"):
        short = values.astype("<f4")
    if np.any(np.isinf(short) & np.isfinite(values)):
        return _floats(values)
    return "f4:" + base64.b64encode(short.tobytes()).decode()


class _Places:
    """Where in its bucket something that is not finite stands: a bucket's own x is only its middle."""

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
    data: bytes


class LineCache:
    """Lines that were drawn before, as JSON. One is good as long as its series has not grown, which is known by the
    series being the same object: the reader makes a new one for new points."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], _Kept] = OrderedDict()

    def line(self, found: Series, axis: Series | None, version: int, request: SeriesRequest) -> Line:
        """The line of a series; its type says `Line`, what comes is its JSON, ready to be sent."""
        wanted = (request.x, request.lo, request.hi, request.buckets, request.smoothing, request.packed)
        key = (found.run, found.name, found.rank, *wanted)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept.found() is found and kept.axis() is (found if axis is None else axis):
                self._kept.move_to_end(key)
                return cast("Line", msgspec.Raw(kept.data))
        data = msgspec.json.encode(draw(found, axis, version, request))
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._bytes += len(data) - (len(replaced.data) if replaced else 0)
            self._kept[key] = _Kept(weakref.ref(found), weakref.ref(found if axis is None else axis), data)
            while self._bytes > self._most_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped.data)
        return cast("Line", msgspec.Raw(data))
