"""Scalars out of thousands of records at once.

Records of one series differ only in their time, step and value. So one record of each kind is parsed field by field to
locate these three, and all records that agree in every other byte are read as columns. Records that match no such
pattern are parsed one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.eventfiles.events import Metadata, decode_event
from stepscope.eventfiles.records import Group
from stepscope.eventfiles.tensors import DTYPES
from stepscope.eventfiles.wire import FIXED32, FIXED64, LENGTH, VARINT, Span, spans

Places = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_ROUNDS = 16
"""Layouts tried for the records of one size; records that match none are parsed one by one."""


@dataclass(frozen=True)
class Column:
    """Points of one tag: the position of each among the batch's records, and its step, time and value."""

    tag: str
    order: Places
    steps: Places
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


class _Slot(NamedTuple):
    """The location and type of one value in a record."""

    start: int
    end: int
    dtype: str


class _Pattern(NamedTuple):
    """The layout of the records of one or several series."""

    time: int
    step: tuple[int, int]
    slots: tuple[_Slot, ...]


def take_scalars(group: Group, plugins: dict[str, Metadata]) -> tuple[list[Column], Places]:
    """The columns in a group, and the rows (by number) with other content."""
    columns: list[Column] = []
    others: list[int] = []
    left = np.arange(len(group.rows))
    for _ in range(_ROUNDS):
        pattern = None
        at = 0
        while at < len(left) and pattern is None:
            pattern = _pattern(group.rows[left[at]], plugins)
            at += 1
        others.extend(left[: at if pattern is None else at - 1].tolist())
        if pattern is None:
            return columns, np.array(sorted(others), dtype=np.int64)
        left = _take(group, left[at - 1 :], pattern, plugins, columns)
        if not len(left):
            break
    return columns, np.array(sorted([*others, *left.tolist()]), dtype=np.int64)


def _take(group: Group, rows: Places, pattern: _Pattern, plugins: dict[str, Metadata], columns: list[Column]) -> Places:
    """Take all rows with the layout of `pattern`; returns the remaining rows."""
    data = group.rows[rows] if len(rows) < len(group.rows) else group.rows
    first, last = pattern.step
    fits = np.ones(len(rows), dtype=bool)
    for place in {pattern.time - 1, (pattern.time + 8) % data.shape[1], *(slot.start - 1 for slot in pattern.slots)}:
        fits &= data[:, place] == data[0, place]  # the same fields are there
    for place in range(first, last):  # a varint with as many bytes as the pattern's
        fits &= (data[:, place] >= 128) if place < last - 1 else (data[:, place] < 128)
    if not fits.all():
        data, fitting, left = data[fits], rows[fits], rows[~fits]
    else:
        fitting, left = rows, rows[:0]
    fixed = _fixed(data, pattern)
    hashes, example, member = np.unique(_hashes(data, fixed), return_index=True, return_inverse=True)
    taken = np.zeros(len(fitting), dtype=bool)
    by_member = np.argsort(member, kind="stable")
    edges = np.searchsorted(member[by_member], np.arange(len(hashes) + 1))
    for kind, row in enumerate(example.tolist()):
        if _pattern(data[row], plugins) != pattern:
            continue
        mine = by_member[edges[kind] : edges[kind + 1]]
        mine = mine[(data[np.ix_(mine, fixed)] == data[row, fixed]).all(axis=1)]
        columns.extend(_columns(data[mine], group.order[fitting[mine]], pattern, data[row]))
        taken[mine] = True
    return np.sort(np.concatenate((fitting[~taken], left)))


def _fixed(data: Bytes, pattern: _Pattern) -> Places:
    """The bytes that distinguish series: those that vary and are not time, step or value."""
    varies = (data != data[:1]).any(axis=0)
    varies[pattern.time : pattern.time + 8] = False
    varies[slice(*pattern.step)] = False
    for slot in pattern.slots:
        varies[slot.start : slot.end] = False
    return np.flatnonzero(varies)


def _hashes(data: Bytes, places: Places) -> npt.NDArray[np.uint64]:
    """A number per row that is equal where those bytes are; rows with equal numbers are compared again."""
    total = np.zeros(len(data), dtype=np.uint64)
    for place in places.tolist():
        total = (total ^ data[:, place].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
    return total


def _columns(data: Bytes, order: Places, pattern: _Pattern, example: Bytes) -> list[Column]:
    times = np.ascontiguousarray(data[:, pattern.time : pattern.time + 8]).view("<f8")[:, 0].astype(np.float64)
    steps = np.zeros(len(data), dtype=np.uint64)
    for shift, place in enumerate(range(*pattern.step)):
        steps |= (data[:, place] & 127).astype(np.uint64) << np.uint64(7 * shift)
    tags = [value.tag for value in decode_event(example.tobytes()).values]
    made = []
    for tag, slot in zip(tags, pattern.slots, strict=True):
        raw = np.ascontiguousarray(data[:, slot.start : slot.end]).view(slot.dtype)[:, 0]
        with np.errstate(all="ignore"):
            made.append(Column(tag, order, steps.view(np.int64), times, raw.astype(np.float64)))
    return made


def _pattern(row: Bytes, plugins: dict[str, Metadata]) -> _Pattern | None:
    """The locations of time, step and values, if the record is a summary of scalars and nothing else."""
    data = row.tobytes()
    try:
        return _read_pattern(data, plugins)
    except BadData:
        return None


def _read_pattern(data: bytes, plugins: dict[str, Metadata]) -> _Pattern | None:
    time: int | None = None
    step = (0, 0)
    slots: list[_Slot] = []
    for span in spans(data):
        if span.field == 1 and span.kind == FIXED64 and time is None:
            time = span.start
        elif span.field == 2 and span.kind == VARINT and step == (0, 0):
            step = (span.start, span.end)
        elif span.field == 5 and span.kind == LENGTH and not slots:
            slots = _slots(data, span, plugins)
            if not slots:
                return None
        else:
            return None
    return _Pattern(time, step, tuple(slots)) if time is not None and slots else None


def _slots(data: bytes, summary: Span, plugins: dict[str, Metadata]) -> list[_Slot]:
    """One for each value of a summary; none if any of them is not a scalar."""
    slots = []
    for value in spans(data, summary.start, summary.end):
        slot = _slot(data, value, plugins) if value.field == 1 and value.kind == LENGTH else None
        if slot is None:
            return []
        slots.append(slot)
    return slots


def _slot(data: bytes, value: Span, plugins: dict[str, Metadata]) -> _Slot | None:
    """The location of one value's number, if it is a scalar."""
    simple: Span | None = None
    tensor: Span | None = None
    metadata = False
    tag = ""
    for span in spans(data, value.start, value.end):
        if span.field == 2 and span.kind == FIXED32 and simple is None:
            simple = span
        elif span.field == 8 and span.kind == LENGTH and tensor is None:
            tensor = span
        elif span.field == 1 and span.kind == LENGTH:
            tag = data[span.start : span.end].decode("utf-8", "backslashreplace")
        elif span.field == 9:
            metadata = True
        else:
            return None
    if simple is not None:
        return _Slot(simple.start, simple.end, "<f4") if tensor is None and not metadata else None
    if tensor is None or not _is_scalar(data, tag, metadata, plugins):
        return None
    return _tensor_slot(data, tensor)


def _is_scalar(data: bytes, tag: str, has_metadata: bool, plugins: dict[str, Metadata]) -> bool:
    """Whether a tensor is for the scalars plugin: by its own metadata, else by that of its tag."""
    if tag not in plugins and has_metadata:
        own = next((one.metadata for one in decode_event(data).values if one.tag == tag and one.metadata), None)
        if own is None:
            return False
        plugins[tag] = own
    return tag in plugins and plugins[tag].plugin == "scalars"


_SCALAR_DTYPES = frozenset((1, 2, 3, 9))
"""TensorFlow's numbers of float32, float64, int32 and int64."""


def _tensor_slot(data: bytes, tensor: Span) -> _Slot | None:
    dtype = 0
    found: Span | None = None
    for span in spans(data, tensor.start, tensor.end):
        if span.field == 1 and span.kind == VARINT:
            dtype = span.number
        elif span.field == 2 and span.kind == LENGTH:
            if span.end > span.start:
                return None  # not a scalar by its shape; use the slow path
        elif span.field in (4, 5, 6) and found is None:
            found = span
        else:
            return None
    if found is None or dtype not in _SCALAR_DTYPES:
        return None
    if found.field == 4:
        kind = DTYPES[dtype]
    elif dtype == found.field - 4:
        kind = "<f4" if found.field == 5 else "<f8"
    else:
        return None
    return _Slot(found.start, found.end, kind) if found.end - found.start == np.dtype(kind).itemsize else None
