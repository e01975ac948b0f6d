"""The event table: one row an event, a column a property, strings kept once.

Six columns have a value in every row. All other properties are *arguments*, each a sparse column: the rows that have
it, and their values. So a trace of a million events needs a few dozen bytes a row and no Python object of its own.

Times are nanoseconds since 1970 wherever the trace lets us know (`baseTimeNanoseconds`, or times that are Unix
already), so that tables of several processes lie on one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.library import take

Ints = npt.NDArray[Any]

_FEW = 6
"""Names that are compared one by one."""


ARGUMENTS: dict[str, str] = {
    # how events belong together
    "id": "int",  # of a flow (ph s, t, f): the top-level field, not in args
    "correlation": "int",
    "External id": "int",
    "Ev Idx": "int",
    "Sequence number": "int",
    "Fwd thread id": "int",
    "Record function id": "int",
    "Python id": "int",
    "Python parent id": "int",
    "Python module id": "int",
    # devices
    "device": "int",
    "stream": "int",
    "context": "int",
    "bytes": "int",
    "queued": "int",
    "cbid": "int",
    "registers per thread": "int",
    "shared memory": "int",
    "blocks per SM": "float",
    "warps per SM": "float",
    "est. achieved occupancy %": "float",
    "memory bandwidth (GB/s)": "float",
    "grid": "text",
    "block": "text",
    # memory
    "Bytes": "int",
    "Addr": "int",
    "Total Allocated": "int",
    "Total Reserved": "int",
    "Device Type": "int",
    "Device Id": "int",
    # what an operator was called with
    "Input Dims": "text",
    "Input type": "text",
    "Input Strides": "text",
    "Concrete Inputs": "text",
    "Call stack": "text",
    "Module Hierarchy": "text",
    # collectives
    "Collective name": "text",
    "dtype": "text",
    "In msg nelems": "int",
    "Out msg nelems": "int",
    "Group size": "int",
    "Process Group Name": "text",
    "Process Group Ranks": "text",
}
"""What we know by name. A string stands as its text; a list or an object as the JSON text it was written as. Any
other argument gets a column too: "float" when its first value is a number, else "text". A value that does not fit its
column's kind goes to the text column `KEY (text)`. `true`, `false` and `null` count as text, but a null in a known
number column is left out."""


@dataclass(frozen=True)
class Sparse:
    """A column that only some rows have. `rows` ascend."""

    rows: Ints
    """uint32"""
    values: Ints
    """int: int32 where it holds all of them, else int64 (`Events.number` is always int64) · float: float64 · text:
    uint32, into `texts`"""
    kind: str


def narrowed(values: Ints) -> Ints:
    """Whole numbers in four bytes each where those hold them all: arguments are most of a table."""
    if not len(values) or values.dtype != np.int64:
        return values
    limits = np.iinfo(np.int32)
    return values.astype(np.int32) if values.min() >= limits.min and values.max() <= limits.max else values


@dataclass(frozen=True)
class Header:
    """A trace's own metadata and the reader's notes on it."""

    fields: dict[str, Any] = field(default_factory=dict)
    """Everything beside `traceEvents`: deviceProperties, distributedInfo, with_stack, host_name ..."""
    path: str = ""
    file_bytes: int = 0
    json_bytes: int = 0
    """Unpacked."""
    truncated: bool = False
    """The file ends before its JSON does; all whole events before that are here."""
    repaired: int = 0
    """Events whose JSON was invalid (an unescaped quote in a name) and that were read all the same."""
    skipped: int = 0
    """Events that could not be read at all."""
    metadata: int = 0
    """Events with ph "M": they name lanes and are not rows."""
    base_ns: int = 0
    """Added to the trace's own times."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Events:
    """The table. All columns have the same length; rows are in the order of the file."""

    start: Ints
    """int64, nanoseconds"""
    dur: Ints
    """int64, nanoseconds; 0 for an instant, -1 when the trace gives none (a B without its E)"""
    ph: Ints
    """uint8, the letter's code: X complete, i instant, s t f flow"""
    cat: Ints
    """uint16 into `cats`"""
    name: Ints
    """uint32 into `names`"""
    lane: Ints
    """uint32 into `lanes`"""
    cats: tuple[str, ...]
    names: tuple[str, ...]
    lanes: tuple[tuple[str, str], ...]
    """(pid, tid) as text: "1792", "Spans", "stream 7" are all seen in traces"""
    lane_names: dict[str, str]
    """ "pid" -> name of the process, "pid/tid" -> name of the thread; with " labels" and " sort" for those"""
    texts: tuple[str, ...]
    args: dict[str, Sparse]
    header: Header = field(default_factory=Header)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> Ints:
        """Of all events, as a copy: it is as large as `start`. Of some, `end_of` is cheaper."""
        return self.start + np.maximum(self.dur, 0)

    def end_of(self, rows: Ints) -> Ints:
        return np.asarray(self.start[rows] + np.maximum(self.dur[rows], 0))

    def number(self, key: str, missing: int = -1) -> Ints:
        """An int argument as a full int64 column, `missing` where a row has none. It may be read only."""
        column = self.args.get(key)
        if column is None:  # one value for all: many arguments are in no row of a trace
            return np.broadcast_to(np.int64(missing), len(self))
        full = np.full(len(self), missing, np.int64)
        full[column.rows] = column.values
        return full

    def real(self, key: str) -> Ints:
        """A float argument as a full float64 column, NaN where a row has none."""
        full = np.full(len(self), np.nan)
        column = self.args.get(key)
        if column is not None:
            full[column.rows] = column.values
        return full

    def text_index(self, key: str) -> Ints:
        """A text argument as a full int32 column of indexes into `texts`, -1 where a row has none. May be read only."""
        column = self.args.get(key)
        if column is None:
            return np.broadcast_to(np.int32(-1), len(self))
        full = np.full(len(self), -1, np.int32)
        full[column.rows] = column.values
        return full

    def arguments(self, row: int) -> dict[str, Any]:
        """All arguments of one event, as a person wants to read them."""
        found: dict[str, Any] = {}
        for key, column in self.args.items():
            at = int(column.rows.searchsorted(column.rows.dtype.type(row)))  # another type would copy the column
            if at < len(column.rows) and int(column.rows[at]) == row:
                value = column.values[at]
                found[key] = self.texts[int(value)] if column.kind == "text" else value.item()
        return found

    @cached_property
    def cat_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.cats)}

    @cached_property
    def name_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def of_cat(self, *cats: str) -> Ints:
        """A mask: rows whose category is one of these."""
        wanted = [self.cat_index[name] for name in cats if name in self.cat_index]
        if len(wanted) == 1:
            return np.asarray(self.cat == wanted[0])
        return np.isin(self.cat, wanted)

    def named(self, test: Any) -> Ints:
        """A mask: rows whose name passes `test`, which is asked once a distinct name."""
        passes = self._passes.get(test)
        if passes is None:
            passes = np.array(list(map(bool, map(test, self.names))), bool)
            if getattr(test, "__name__", "<lambda>") != "<lambda>":  # a function may come again
                self._passes[test] = passes
        return self._are_named(passes)

    def has_name(self, indexes: Sequence[int] | Ints) -> Ints:
        """A mask: rows that have one of these names."""
        passes = np.zeros(len(self.names), bool)
        passes[np.asarray(indexes, np.int64)] = True
        return self._are_named(passes)

    def _are_named(self, passes: Ints) -> Ints:
        """A mask of rows by a mask of names. Mostly few names pass, and comparing is faster than looking up."""
        some = np.flatnonzero(passes).tolist()
        if len(some) > _FEW:
            return take(passes, self.name)
        found = np.zeros(len(self), bool)
        for one in some:
            found |= self.name == one
        return found

    @cached_property
    def _passes(self) -> dict[Any, Ints]:
        return {}


def joined(tables: Sequence[Events]) -> Events:
    """Several tables as one (a trace and what our own collectors wrote beside it). Rows stay in order."""
    if len(tables) == 1:
        return tables[0]
    cats, cat_maps = _pooled([table.cats for table in tables])
    names, name_maps = _pooled([table.names for table in tables])
    lanes, lane_maps = _pooled([table.lanes for table in tables])
    texts, text_maps = _pooled([table.texts for table in tables])

    def whole(name: str, maps: Sequence[Ints], dtype: Any) -> Ints:
        return np.concatenate([m[getattr(t, name)] for t, m in zip(tables, maps, strict=True)]).astype(dtype)

    return Events(
        start=np.concatenate([table.start for table in tables]),
        dur=np.concatenate([table.dur for table in tables]),
        ph=np.concatenate([table.ph for table in tables]),
        cat=whole("cat", cat_maps, np.uint16),
        name=whole("name", name_maps, np.uint32),
        lane=whole("lane", lane_maps, np.uint32),
        cats=cats,
        names=names,
        lanes=lanes,
        lane_names={key: name for table in tables for key, name in table.lane_names.items()},
        texts=texts,
        args=_joined_args(tables, text_maps),
        header=max((table.header for table in tables), key=lambda header: len(header.fields)),  # torch's
    )


def _joined_args(tables: Sequence[Events], text_maps: Sequence[Ints]) -> dict[str, Sparse]:
    """Arguments by name; one that has another kind in another table gets the kind behind its name."""
    columns: dict[str, list[Sparse]] = {}
    at = 0
    for table, text_map in zip(tables, text_maps, strict=True):
        for name, column in table.args.items():
            same_name = columns.get(name)
            key = name if same_name is None or same_name[0].kind == column.kind else f"{name} ({column.kind})"
            values = text_map[column.values].astype(np.uint32) if column.kind == "text" else column.values
            columns.setdefault(key, []).append(Sparse(column.rows + np.uint32(at), values, column.kind))
        at += len(table)
    return {key: _joined_column(parts) for key, parts in columns.items()}


def _joined_column(parts: Sequence[Sparse]) -> Sparse:
    rows = np.concatenate([part.rows for part in parts])
    return Sparse(rows, np.concatenate([part.values for part in parts]), parts[0].kind)


def _pooled(pools: Sequence[tuple[Any, ...]]) -> tuple[tuple[Any, ...], list[Ints]]:
    """All entries of several pools, each once, and for every pool where its entries are now."""
    index: dict[Any, int] = {}
    maps = [np.array([index.setdefault(one, len(index)) for one in pool], np.int64) for pool in pools]
    return tuple(index), maps
