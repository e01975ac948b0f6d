"""The lines of a chart in binary form: the data of `POST /api/lines`.

The same lines as `POST /api/series`, in a third of the bytes and without a number to parse. All little-endian:

    4 bytes    SSLN
    uint32     length of the head, spaces at its end included
    head       JSON: `lines` as in `SeriesData` with empty columns, `columns`, `missing`, `partial`
    columns    floats, each column from a multiple of eight on

`columns` has, for each line, the length of its columns, and then for x, value, low, high and smooth the column's offset
from the end of the head and the bytes per number: 4, 8, or 0 for no column. A float32 is used only if it is exact, and
for `low` and `high`, which are stored as distances below and above `value` (no column: they equal `value`). Lines over
the same x share its column.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from stepscope.runs.points.downsample import Buckets, Floats
from stepscope.views.charts import SeriesData, SeriesRequest
from stepscope.views.context import Context
from stepscope.views.route import Download, route
from stepscope.views.series import LineCache, Wanted, draw_buckets, wanted_lines

MAGIC = b"SSLN"
EIGHT = 8


class PackedLine(NamedTuple):
    """One encoded line."""

    head: bytes
    """Its JSON."""
    numbers: int
    """Numbers in each column."""
    columns: tuple[bytes, ...]


class _Head(msgspec.Struct):
    lines: list[msgspec.Raw]
    columns: list[list[int]]
    missing: list[str]
    partial: bool


@route("POST", "/api/lines")
def line_bytes(ctx: Context, request: SeriesRequest) -> Download:
    """The lines of all visible panels, as binary columns."""
    answer = SeriesData(lines=[], missing=[])
    lines = [_packed(ctx.lines, one, request) for one in wanted_lines(ctx, request, answer)]
    return Download("application/octet-stream", body=_laid_out(lines, answer))


def _packed(cache: LineCache, one: Wanted, request: SeriesRequest) -> PackedLine:
    def make() -> tuple[PackedLine, int]:
        line, buckets = draw_buckets(one.found, one.axis, one.version, request, one.superseded)
        columns = pack(buckets)
        head = msgspec.json.encode(line)
        return PackedLine(head, len(buckets), columns), len(head) + sum(map(len, columns))

    return make()[0] if one.superseded else cache.line(one.found, one.axis, request, "bytes", make)


def _laid_out(lines: list[PackedLine], answer: SeriesData) -> bytes:
    places: dict[bytes, int] = {}
    body: list[bytes] = []
    end = 0

    def put(column: bytes) -> int:
        nonlocal end
        if (known := places.get(column)) is not None:
            return known
        places[column] = at = end
        fill = -len(column) % EIGHT
        body.append(column + bytes(fill) if fill else column)
        end += len(column) + fill
        return at

    where: list[list[int]] = []
    for line in lines:
        places_of = [(put(column), len(column) // max(1, line.numbers)) for column in line.columns]
        where.append([line.numbers, *(number for place in places_of for number in place)])
    head = msgspec.json.encode(_Head([msgspec.Raw(line.head) for line in lines], where, answer.missing, answer.partial))
    head += b" " * (-len(head) % EIGHT)
    return b"".join((MAGIC, len(head).to_bytes(4, "little"), head, *body))


def pack(buckets: Buckets) -> tuple[bytes, ...]:
    """x, value, low, high and smooth as bytes."""
    return (
        _floats(buckets.x),
        _floats(buckets.value),
        _distance(buckets.value - buckets.low),
        _distance(buckets.high - buckets.value),
        b"" if buckets.smooth is None else _floats(buckets.smooth),
    )


def _floats(values: Floats) -> bytes:
    with np.errstate(over="ignore"):
        short = values.astype("<f4")
    exact = np.array_equal(short, values, equal_nan=True)
    return (short if exact else values.astype("<f8")).tobytes()


def _distance(values: Floats) -> bytes:
    """The distance of an extreme from the value: seven digits are more than a screen can show."""
    if not np.any(values):  # NaN counts as a difference
        return b""
    with np.errstate(over="ignore"):
        short = values.astype("<f4")
    return _floats(values) if np.any(np.isinf(short) & np.isfinite(values)) else short.tobytes()
