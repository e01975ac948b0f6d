"""The compiled code (scanner.c) through ctypes: where it is, and what it answers about nesting."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]
_VERSION = 7
_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = Path(__file__).parent / f"_scanner{_SUFFIX}"
"""Made by scripts/build-compiled, or shipped in a wheel for a platform."""


class State(ctypes.Structure):
    """The head of `Scanner` in scanner.c."""

    _fields_ = (
        ("start", ctypes.c_void_p),
        ("dur", ctypes.c_void_p),
        ("ph", ctypes.c_void_p),
        ("cat", ctypes.c_void_p),
        ("name", ctypes.c_void_p),
        ("lane", ctypes.c_void_p),
        ("n", ctypes.c_uint64),
        ("skipped", ctypes.c_uint64),
        ("dropped", ctypes.c_uint64),
        ("n_columns", ctypes.c_uint64),
        ("consumed", ctypes.c_uint64),
        ("in_events", ctypes.c_uint64),
        ("has_events", ctypes.c_uint64),
    )


class Strings(ctypes.Structure):
    _fields_ = (("blob", ctypes.c_void_p), ("ends", ctypes.c_void_p), ("count", ctypes.c_uint64))


class Column(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("n", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("kind", ctypes.c_int),
        ("leader", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
    )


class Blocks(ctypes.Structure):
    """Columns of blocks of a timeline, as in scanner.c."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("key", "dur", "busy", "count", "longest", "longest_dur"))


@cache
def library() -> Any:
    """The compiled library, or None where it was not built (or is of another version)."""
    if os.environ.get("STEPSCOPE_SCANNER") == "wheel" or not LIBRARY.exists():
        return None
    try:
        found = ctypes.CDLL(str(LIBRARY))
        if found.ss_version() != _VERSION:
            return None
    except (OSError, AttributeError):  # built for another machine
        return None
    pointer, u64 = ctypes.c_void_p, ctypes.c_uint64
    found.ss_new.restype = ctypes.POINTER(State)
    found.ss_new.argtypes = (u64, u64)
    found.ss_known.argtypes = (pointer, ctypes.c_char_p, u64, ctypes.c_int)
    found.ss_scan.argtypes = (pointer, ctypes.c_char_p, u64, u64)
    found.ss_free.argtypes = (pointer,)
    found.ss_finish.argtypes = (pointer,)
    found.ss_strings.argtypes = (pointer, ctypes.c_int, ctypes.POINTER(Strings))
    found.ss_column.argtypes = (pointer, u64, ctypes.POINTER(Column))
    found.ss_nest.argtypes = (u64, pointer, pointer, pointer, pointer, pointer)
    found.ss_within.argtypes = (u64, pointer, u64, pointer, pointer, pointer)
    found.ss_nearest.argtypes = (u64, pointer, pointer, ctypes.c_int, pointer)
    found.ss_depths.argtypes = (u64, pointer, pointer)
    found.ss_order.argtypes = (u64, pointer, ctypes.c_uint32, pointer, pointer, pointer)
    found.ss_late.argtypes = (u64, pointer, u64, pointer, pointer, pointer, ctypes.c_int64, pointer)
    found.ss_most.argtypes = (u64, pointer, pointer, u64, pointer)
    found.ss_calls.argtypes = (u64, u64, pointer, pointer, pointer, pointer)
    found.ss_calls.restype = ctypes.c_int64
    found.ss_blocks.argtypes = (u64, ctypes.POINTER(Blocks), ctypes.c_uint32)
    found.ss_blocks.restype = u64
    found.ss_merge.argtypes = (u64, ctypes.POINTER(Blocks), ctypes.c_uint32, ctypes.POINTER(Blocks))
    found.ss_merge.restype = None
    found.ss_take_or.argtypes = (u64, pointer, pointer, u64, ctypes.c_int32, pointer)
    found.ss_take.argtypes = (u64, pointer, pointer, u64, ctypes.c_uint32, pointer)
    return found


def nest_compiled(lane: Ints, start: Ints, dur: Ints, rows: Ints | None = None) -> Ints | None:
    """`nest` of nesting.py, of these rows only if given (the others are -1); None where the library is not built."""
    code = library()
    if code is None or (rows is not None and len(rows) and int(rows.max()) >= len(lane)):
        return None
    lane = np.ascontiguousarray(lane, np.uint32)
    start, dur = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(dur, np.int64)
    chosen = None if rows is None else np.ascontiguousarray(rows, np.uint32)
    parent = np.full(len(lane), -1, np.int32)
    pointers = [column.ctypes.data for column in (lane, start, dur, parent)]
    n = len(lane) if chosen is None else len(chosen)
    done = code.ss_nest(n, None if chosen is None else chosen.ctypes.data, *pointers) == 0
    return parent if done else None


def within(moment: Ints, begin: Ints, end: Ints) -> Ints:
    """int16: the stretch each moment lies in, or -1. Stretches ascend and do not overlap.

    >>> within(np.array([5, 1, 30]), np.array([0, 10]), np.array([4, 40])).tolist()
    [-1, 0, 1]
    """
    code = library()
    moment, begin, end = (np.ascontiguousarray(one, np.int64) for one in (moment, begin, end))
    if code is not None and len(begin) < 1 << 15:
        found = np.empty(len(moment), np.int16)
        pointers = (begin.ctypes.data, end.ctypes.data, found.ctypes.data)
        code.ss_within(len(moment), moment.ctypes.data, len(begin), *pointers)
        return found
    if not len(begin):
        return np.full(len(moment), -1, np.int16)
    at = np.searchsorted(begin, moment, side="right") - 1
    inside = (at >= 0) & (moment < end[np.maximum(at, 0)])
    return np.where(inside, at, -1).astype(np.int16)


def nearest_compiled(parent: Ints, wanted: Ints, above: bool = False) -> Ints | None:
    """`nearest` of ancestors.py, or `nearest_above`; None where the library is not built."""
    code = library()
    if code is None or wanted.dtype != np.bool_ or len(wanted) != len(parent):
        return None
    parent, wanted = np.ascontiguousarray(parent, np.int32), np.ascontiguousarray(wanted)
    found = np.empty(len(parent), np.int32)
    done = code.ss_nearest(len(parent), parent.ctypes.data, wanted.ctypes.data, above, found.ctypes.data) == 0
    return found if done else None


def depths_compiled(parent: Ints) -> Ints | None:
    """`depths` of ancestors.py; None where the library is not built."""
    code = library()
    if code is None:
        return None
    parent = np.ascontiguousarray(parent, np.int32)
    found = np.empty(len(parent), np.int32)
    return found if code.ss_depths(len(parent), parent.ctypes.data, found.ctypes.data) == 0 else None


def order_in_groups(group: Ints, groups: int, start: Ints, rows: Ints | None = None) -> Ints:
    """The order by group, and by start within each; those that begin together stay as they are. `rows`: of these only.

    >>> order_in_groups(np.array([1, 0, 1, 0]), 2, np.array([5, 9, 4, 9])).tolist()
    [1, 3, 2, 0]
    """
    code = library()
    rows = np.arange(len(group), dtype=np.uint32) if rows is None else np.ascontiguousarray(rows, np.uint32)
    if code is not None and groups < 1 << 32 and (not len(rows) or int(rows.max()) < len(group)):
        group, start = np.ascontiguousarray(group, np.uint32), np.ascontiguousarray(start, np.int64)
        found = np.empty(len(rows), np.uint32)
        pointers = (group.ctypes.data, start.ctypes.data, found.ctypes.data)
        if code.ss_order(len(rows), rows.ctypes.data, groups, *pointers) == 0:
            return found
    return np.asarray(rows[np.lexsort((start[rows], group[rows]))])


def late_in_groups(order: Ints, group: Ints, start: Ints, dur: Ints, slack: int) -> Ints:
    """A mask in that order: events that begin before all of their group before them have ended.

    `slack`: by more than this, or than half of their own length if that is less.

    >>> late_in_groups(np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 5, 5]), np.array([9, 9, 9]), 1).tolist()
    [False, True, False]
    """
    code = library()
    late = np.zeros(len(order), np.bool_)
    if code is not None:
        order, group = np.ascontiguousarray(order, np.uint32), np.ascontiguousarray(group, np.uint32)
        start, dur = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(dur, np.int64)
        pointers = [column.ctypes.data for column in (group, start, dur)]
        if code.ss_late(len(order), order.ctypes.data, len(group), *pointers, slack, late.ctypes.data) == 0:
            return late
    group, start, dur = group[order].astype(np.int64), start[order], dur[order]
    start = start - start.min(initial=np.iinfo(np.int64).max)  # so that groups times lengths stay small
    length = int((start + dur).max(initial=0)) + 1
    until = np.maximum.accumulate(group * length + start + dur) - group * length
    same = group[1:] == group[:-1]
    late[1:] = same & (until[:-1] - start[1:] > np.minimum(slack, dur[1:] // 2))
    return late


def take(column: Ints, index: Ints) -> Ints:
    """`column[index]`, for an index of uint32 that is long.

    >>> take(np.array([True, False]), np.array([0, 1, 0], np.uint32)).tolist()
    [True, False, True]
    """
    code = library()
    if code is not None and index.dtype == np.uint32 and column.flags.c_contiguous and index.flags.c_contiguous:
        found = np.empty(len(index), column.dtype)
        size, pointers = column.dtype.itemsize, (index.ctypes.data, column.ctypes.data)
        if column.dtype.kind in "iufb" and not code.ss_take(
            len(index), *pointers, len(column), size, found.ctypes.data
        ):
            return found
    return np.asarray(column[index])


def take_or(column: Ints, index: Ints, none: int = -1) -> Ints:
    """int32: `column[index]`, and `none` where the index is negative.

    >>> take_or(np.array([7, 8], np.int32), np.array([1, -1, 0], np.int32)).tolist()
    [8, -1, 7]
    """
    code = library()
    if code is not None and column.dtype == index.dtype == np.int32:
        column, index = np.ascontiguousarray(column), np.ascontiguousarray(index)
        found = np.empty(len(index), np.int32)
        pointers = (index.ctypes.data, column.ctypes.data)
        if not code.ss_take_or(len(index), *pointers, len(column), none, found.ctypes.data):
            return found
    return np.where(index >= 0, column[index], none).astype(np.int32)


def most_in_groups(group: Ints, groups: int, values: Ints) -> Ints:
    """int64: of each group the most of its values, none of which is negative; 0 where it has none.

    >>> most_in_groups(np.array([0, 2, 0]), 3, np.array([1, 5, 4])).tolist()
    [4, 0, 5]
    """
    code = library()
    found = np.zeros(groups, np.int64)
    if code is not None and group.dtype == np.uint32 and values.dtype == np.int32:
        group, values = np.ascontiguousarray(group), np.ascontiguousarray(values)
        if not code.ss_most(len(group), group.ctypes.data, values.ctypes.data, groups, found.ctypes.data):
            return found
    np.maximum.at(found, group, values)
    return found


def call_nodes(parent: Ints, label: Ints) -> tuple[Ints, Ints] | None:
    """For each span its node in a call tree, and of each node its first span; None where the library is not built."""
    code = library()
    if code is None or len(parent) != len(label):
        return None
    parent, label = np.ascontiguousarray(parent, np.int32), np.ascontiguousarray(label, np.int64)
    node, first = np.empty(len(parent), np.int32), np.empty(len(parent), np.uint32)
    pointers = [column.ctypes.data for column in (parent, label, node, first)]
    made = code.ss_calls(len(parent), int.from_bytes(os.urandom(8), "little"), *pointers)
    return (node, first[:made].copy()) if made >= 0 else None


def merge_compiled(columns: Sequence[Ints], level: int, most: float) -> tuple[Ints, ...] | None:
    """Blocks (key, dur, busy, count, longest, longest_dur) as those of a coarser level; none if that were more than
    `most`. None where the library is not built."""
    code = library()
    types = (np.int64, np.int64, np.int64, np.uint32, np.uint32, np.int64)
    if code is None or not 0 <= level < 63:
        return None
    # Of single events the count is one value for all: none is given.
    kept = [
        np.ascontiguousarray(one, type) if any(one.strides) else None for one, type in zip(columns, types, strict=True)
    ]
    blocks = Blocks(*(None if one is None else one.ctypes.data for one in kept))
    n = len(columns[0])
    count = code.ss_blocks(n, blocks, level)
    if count > most:
        return ()
    found = tuple(np.empty(count, type) for type in types)
    code.ss_merge(n, blocks, level, Blocks(*(column.ctypes.data for column in found)))
    return found


def distinct(values: Ints) -> tuple[Ints, Ints]:
    """Of each value the place among the distinct ones, which ascend; and of each of those its first place.

    >>> [one.tolist() for one in distinct(np.array([9, 4, 9]))]
    [[1, 0, 1], [1, 0]]
    """
    found = call_nodes(np.broadcast_to(np.int32(-1), len(values)), values)
    if found is None:
        _, first, number = np.unique(values, return_index=True, return_inverse=True)
        return number.ravel(), first
    node, first = found
    order = np.argsort(values[first])
    place = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return place[node], first[order].astype(np.int64)
