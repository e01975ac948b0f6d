"""Chunks: about a thousand points of one series as columns, the payload of a `CHUNK` frame.

A chunk is a msgpack array: its identity (name, attempt, rank, role), its summary (count, step range,
minimum, maximum, number of NaN and Inf), then the three columns. Steps are deltas, times are ticks from a base or
deltas of their bits, values are float32 if that is exact; each column is split into byte planes and deflated
when that makes it smaller. Decoding returns every number bit for bit.

A compacted file (`compact/<n>.log`) is a sequence of *sections*, one per segment it replaces. Each begins with that
segment's own HEADER frame; its points follow as CHUNK frames, its other frames as they were, in their order,
and a SEAL closes it. The header's `file_id`, `kind` and `segment` tell a reader what it has already read.

A *thinned* chunk (`thin.py`) has the summary of all logged points but only some of them in its columns: the ends
and extremes of each block, with the block's mean and its number of finite points.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.files.decoding import MALFORMED
from stepscope.runs.format.frames import TICK
from stepscope.runs.points.summary import MetricSummary, summarise_points

CHUNK_POINTS = 1024
"""Number of points a writer puts into one chunk."""
MAX_CHUNK_POINTS = 1 << 20
"""A larger count means a damaged or hostile chunk, which is rejected before anything is allocated."""

_RAW, _DEFLATED = 0, 1


class _Column(msgspec.Struct, frozen=True, array_like=True):
    """One column: the encoding of its numbers, their width in bytes, the compression, and the data."""

    coding: int
    width: int
    packing: int
    start: int
    """First number of a delta-coded column, as an unsigned 64-bit integer."""
    data: bytes


class ChunkHead(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A chunk without its columns: enough to skip it or to draw it zoomed out."""

    name: str
    count: int
    attempt: int
    rank: int
    role: str
    first_step: int
    last_step: int
    min_step: int
    max_step: int
    first_time: float
    last_time: float
    low: float
    """The minimum finite value; NaN if there is none."""
    high: float
    finite: int
    nan: int
    pos_inf: int
    neg_inf: int
    first: float
    """The value at the first step."""
    last: float
    """The value at the last step."""
    mean: float
    low_step: int | None
    high_step: int | None

    @property
    def summary(self) -> MetricSummary:
        """The chunk's part of the series' summary, without decoding it."""
        return MetricSummary(
            last=self.last,
            min=self.low,
            max=self.high,
            mean=self.mean,
            first=self.first,
            count=self.count,
            nan=self.nan,
            inf=self.pos_inf + self.neg_inf,
            last_step=self.max_step,
            min_step=self.low_step,
            max_step=self.high_step,
            first_step=self.min_step,
        )


class Block(msgspec.Struct, frozen=True, array_like=True):
    """An interval of points of which only some are kept."""

    kept: int
    finite: int
    """How many of its points were finite."""
    mean: float
    """Of those."""


class _Payload(ChunkHead, frozen=True, array_like=True, kw_only=True):
    base_time: float
    steps: _Column
    times: _Column
    values: _Column
    exact: dict[int, str] = {}
    blocks: list[Block] = []
    """For a thinned chunk: the columns hold the kept points of these blocks; `count` is the original number."""


class Chunk(NamedTuple):
    """The points of a chunk. `exact` has, by position, the integers that do not fit a float64."""

    head: ChunkHead
    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    exact: dict[int, int]
    thinned: npt.NDArray[np.float64] | None = None
    """For a thinned chunk, per point: the number of logged points it represents, and their mean."""


_encoder = msgspec.msgpack.Encoder()
_payload_decoder = msgspec.msgpack.Decoder(_Payload)
_head_decoder = msgspec.msgpack.Decoder(ChunkHead)


def encode_chunk(
    name: str,
    steps: npt.ArrayLike,
    times: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    attempt: int = 0,
    rank: int = 0,
    role: str = "run",
    base_time: float | None = None,
    exact: Mapping[int, int] | None = None,
) -> bytes:
    """The payload of a `CHUNK` frame. With the file's `base_time`, times take only a byte or two per point.

    >>> chunk = decode_chunk(encode_chunk("loss", [0, 1, 2], [1.0, 2.0, 3.0], [0.5, float("nan"), -0.0]))
    >>> chunk.values
    array([ 0.5,  nan, -0. ])
    """
    columns = _columns(steps, times, values)
    return _encoded(
        name, columns, summarise_points(columns[0], columns[2]), columns, attempt, rank, role, base_time, exact or {}
    )


def encode_thinned(
    name: str,
    points: _Columns,
    kept: npt.NDArray[np.int64],
    blocks: list[Block],
    *,
    attempt: int = 0,
    rank: int = 0,
    role: str = "run",
    base_time: float | None = None,
    exact: Mapping[int, int] | None = None,
) -> bytes:
    """The same with only the points at the positions `kept` in its columns, grouped by `blocks`."""
    columns = _columns(points[0][kept], points[1][kept], points[2][kept])
    summary = summarise_points(points[0], points[2])
    return _encoded(name, points, summary, columns, attempt, rank, role, base_time, exact or {}, blocks)


_Columns = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]


def _columns(steps: npt.ArrayLike, times: npt.ArrayLike, values: npt.ArrayLike) -> _Columns:
    columns = (
        np.ascontiguousarray(steps, dtype=np.int64),
        np.ascontiguousarray(times, dtype=np.float64),
        np.ascontiguousarray(values, dtype=np.float64),
    )
    count = len(columns[2])
    if not 0 < count <= MAX_CHUNK_POINTS or len(columns[0]) != count or len(columns[1]) != count:
        raise ValueError(f"a chunk needs 1 to {MAX_CHUNK_POINTS} points in columns of equal length, not {count}")
    return columns


def _encoded(
    name: str,
    points: _Columns,
    summary: MetricSummary,
    columns: _Columns,
    attempt: int,
    rank: int,
    role: str,
    base_time: float | None,
    exact: Mapping[int, int],
    blocks: list[Block] | None = None,
) -> bytes:
    """A payload with the summary of all `points` and these columns."""
    steps, times, values = points
    payload = _Payload(
        name=name,
        count=len(values),
        attempt=attempt,
        rank=rank,
        role=role,
        first_step=int(steps[0]),
        last_step=int(steps[-1]),
        min_step=int(steps.min()),
        max_step=int(steps.max()),
        first_time=float(times[0]),
        last_time=float(times[-1]),
        low=summary.min,
        high=summary.max,
        finite=summary.finite,
        nan=summary.nan,
        pos_inf=int((values == np.inf).sum()),
        neg_inf=int((values == -np.inf).sum()),
        first=summary.first,
        last=summary.last,
        mean=summary.mean,
        low_step=summary.min_step,
        high_step=summary.max_step,
        base_time=base_time if base_time is not None else 0.0,
        steps=_pack_deltas(columns[0].view(np.uint64)),
        times=_pack_times(columns[1], base_time),
        values=_pack_floats(columns[2]),
        exact={position: str(number) for position, number in exact.items()},
        blocks=blocks or [],
    )
    return _encoder.encode(payload)


def chunk_head(payload: bytes | memoryview) -> ChunkHead:
    """The summary of a chunk; its columns stay packed."""
    try:
        return _head_decoder.decode(payload)
    except (*MALFORMED, ValueError) as fault:
        raise BadData(f"unreadable chunk: {fault}") from fault


def decode_chunk(payload: bytes | memoryview) -> Chunk:
    """The points of a chunk; `BadData` for anything else."""
    try:
        body = _payload_decoder.decode(payload)
        count = sum(block.kept for block in body.blocks) if body.blocks else body.count
        if not 0 < count <= MAX_CHUNK_POINTS or count > body.count:
            raise ValueError(f"it claims {count} points")
        steps = _unpack_deltas(body.steps, count).view(np.int64)
        times = _unpack_times(body.times, count, body.base_time)
        values = _unpack_floats(body.values, count)
        exact = {position: int(number) for position, number in body.exact.items() if 0 <= position < count}
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError, OverflowError, zlib.error) as fault:
        raise BadData(f"unreadable chunk: {fault}") from fault
    return Chunk(body, steps, times, values, exact, _stand_ins(body.blocks) if body.blocks else None)


def _stand_ins(blocks: list[Block]) -> npt.NDArray[np.float64]:
    rows = [(block.finite / block.kept, block.mean) for block in blocks]
    return np.repeat(np.array(rows), [block.kept for block in blocks], axis=0)


# -- columns ---------------------------------------------------------------------------------------------------

_DELTA, _CONSTANT, _TICKS, _FLOATS = 0, 1, 2, 3
_WIDTHS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _pack_deltas(numbers: npt.NDArray[np.uint64], coding: int = _DELTA) -> _Column:
    """Differences modulo 2**64, zigzag-coded so that small differences become small numbers."""
    start = int(numbers[0])
    deltas = np.diff(numbers).view(np.int64)
    folded = ((deltas << 1) ^ (deltas >> 63)).view(np.uint64)
    if coding == _DELTA and (len(folded) == 0 or (folded == folded[0]).all()):
        constant = int(folded[0]) if len(folded) else 0
        return _Column(_CONSTANT, 8, _RAW, start, constant.to_bytes(8, "little"))
    largest = int(folded.max()) if len(folded) else 0
    width = next(width for width in _WIDTHS if largest < 1 << (8 * width))
    packing, data = _pack_planes(folded.astype(_WIDTHS[width]))
    return _Column(coding, width, packing, start, data)


def _unpack_deltas(column: _Column, count: int) -> npt.NDArray[np.uint64]:
    if column.coding == _CONSTANT:
        folded = np.full(count - 1, int.from_bytes(column.data[:8], "little"), dtype=np.uint64)
    else:
        folded = _unpack_planes(column, count - 1).astype(np.uint64)
    deltas = (folded >> np.uint64(1)) ^ (np.uint64(0) - (folded & np.uint64(1)))
    numbers = np.empty(count, dtype=np.uint64)
    numbers[0] = column.start
    numbers[1:] = deltas
    return np.cumsum(numbers, dtype=np.uint64)


def _pack_times(times: npt.NDArray[np.float64], base_time: float | None) -> _Column:
    if base_time is not None:
        with np.errstate(all="ignore"):
            ticks = np.rint((times - base_time) / TICK)
            usable = np.isfinite(ticks) & (ticks >= 0) & (ticks < 2**53)
        if usable.all() and (_from_ticks(ticks, base_time).view(np.uint64) == times.view(np.uint64)).all():
            return _pack_deltas(ticks.astype(np.uint64), _TICKS)
    return _pack_deltas(times.view(np.uint64))


def _unpack_times(column: _Column, count: int, base_time: float) -> npt.NDArray[np.float64]:
    numbers = _unpack_deltas(column, count)
    if column.coding == _TICKS:
        return _from_ticks(numbers.astype(np.float64), base_time)
    return numbers.view(np.float64)


def _from_ticks(ticks: npt.NDArray[np.float64], base_time: float) -> npt.NDArray[np.float64]:
    return ticks * TICK + base_time


def _pack_floats(values: npt.NDArray[np.float64]) -> _Column:
    with np.errstate(all="ignore"):
        short = values.astype(np.float32)
        exact = (short.astype(np.float64).view(np.uint64) == values.view(np.uint64)).all()
    chosen: npt.NDArray[Any] = short if exact else values
    packing, data = _pack_planes(chosen)
    return _Column(_FLOATS, chosen.itemsize, packing, 0, data)


def _unpack_floats(column: _Column, count: int) -> npt.NDArray[np.float64]:
    numbers = _unpack_planes(column, count)
    if column.width == 4:
        with np.errstate(all="ignore"):
            return numbers.view(np.float32).astype(np.float64)
    if column.width == 8:
        return numbers.view(np.float64)
    raise ValueError(f"values of {column.width} bytes")


def _pack_planes(numbers: npt.NDArray[Any]) -> tuple[int, bytes]:
    """All first bytes, then all second bytes ...: the planes of signs and exponents compress well."""
    raw = numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()
    deflated = zlib.compress(raw, 6)
    return (_DEFLATED, deflated) if len(deflated) < 0.9 * len(raw) else (_RAW, raw)


def _unpack_planes(column: _Column, count: int) -> npt.NDArray[Any]:
    if column.width not in _WIDTHS:
        raise ValueError(f"a column of {column.width} bytes a number")
    size = count * column.width
    data = column.data
    if column.packing == _DEFLATED:
        data = zlib.decompressobj().decompress(data, size + 1)  # never more than the count allows
    if len(data) != size:
        raise ValueError(f"a column of {len(data)} bytes where {size} belong")
    planes = np.frombuffer(data, dtype=np.uint8).reshape(column.width, count)
    return np.ascontiguousarray(planes.T).view(_WIDTHS[column.width]).reshape(count)
