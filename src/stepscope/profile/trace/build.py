"""Builds an event table one event at a time: for our own collectors, and for small traces that are objects already."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stepscope.profile.trace.events import ARGUMENTS, Events, Header, Sparse

__all__ = ["Builder", "events_of"]

_DTYPES = {"int": np.int64, "float": np.float64, "text": np.uint32}


class _Pool:
    """Strings, each once, in the order they came."""

    def __init__(self) -> None:
        self.index: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        return self.index.setdefault(value, len(self.index))


class Builder:
    """Append events, then take the table.

    >>> builder = Builder()
    >>> builder.add("forward", "phase", start=10, dur=5, pid=1, tid=1, args={"step": 3})
    >>> table = builder.events()
    >>> len(table), table.names, table.arguments(0)
    (1, ('forward',), {'step': 3.0})
    """

    def __init__(self, header: Header | None = None) -> None:
        self.header = header or Header()
        self.lane_names: dict[str, str] = {}
        self._rows: list[tuple[int, int, int, int, int, int]] = []
        self._cats, self._names, self._lanes, self._texts = _Pool(), _Pool(), _Pool(), _Pool()
        self._args: dict[str, tuple[str, list[int], list[Any]]] = {}

    def add(
        self,
        name: str,
        cat: str,
        *,
        start: int,
        dur: int = 0,
        pid: Any = 0,
        tid: Any = 0,
        ph: str = "X",
        args: Mapping[str, Any] | None = None,
    ) -> None:
        """One event; times in nanoseconds."""
        lane = self._lanes.of((str(pid), str(tid)))
        self._rows.append((start, dur, ord(ph[:1] or "?"), self._cats.of(cat), self._names.of(name), lane))
        for key, value in (args or {}).items():
            self._argue(len(self._rows) - 1, key, value)

    def _argue(self, row: int, key: str, value: Any) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        kind = ARGUMENTS.get(key) or (self._args[key][0] if key in self._args else ("float" if is_number else "text"))
        if kind == "int" and isinstance(value, str) and value.lstrip("-").isdecimal():
            value, is_number = int(value), True
        if kind == "int" and isinstance(value, float) and not value.is_integer():
            is_number = False
        if kind != "text" and value is None and key in ARGUMENTS:
            return
        if kind != "text" and not is_number:
            key, kind = f"{key} (text)", "text"
        if kind == "text":
            value = self._texts.of(value if isinstance(value, str) else json.dumps(value))
        _, rows, values = self._args.setdefault(key, (kind, [], []))
        rows.append(row)
        values.append(value)

    def add_table(self, table: Events) -> None:
        """All rows of another table, after those that are here."""
        at = len(self._rows)
        cats = [self._cats.of(one) for one in table.cats]
        names = [self._names.of(one) for one in table.names]
        lanes = [self._lanes.of(one) for one in table.lanes]
        texts = [self._texts.of(one) for one in table.texts]
        columns = (table.start, table.dur, table.ph, table.cat, table.name, table.lane)
        for start, dur, ph, cat, name, lane in zip(*(column.tolist() for column in columns), strict=True):
            self._rows.append((start, dur, ph, cats[cat], names[name], lanes[lane]))
        for key, column in table.args.items():
            kind, rows, values = self._args.setdefault(key, (column.kind, [], []))
            if kind != column.kind:
                kind, rows, values = self._args.setdefault(f"{key} ({column.kind})", (column.kind, [], []))
            rows.extend((column.rows.astype(np.int64) + at).tolist())
            found = column.values.tolist()
            values.extend([texts[one] for one in found] if kind == "text" else found)
        self.lane_names.update(table.lane_names)

    def events(self) -> Events:
        """The table of what was added so far."""
        columns = list(zip(*self._rows, strict=True)) if self._rows else [()] * 6
        dtypes = (np.int64, np.int64, np.uint8, np.uint16, np.uint32, np.uint32)
        start, dur, ph, cat, name, lane = (np.array(c, d) for c, d in zip(columns, dtypes, strict=True))
        return Events(
            start=start,
            dur=dur,
            ph=ph,
            cat=cat,
            name=name,
            lane=lane,
            cats=tuple(self._cats.index),
            names=tuple(self._names.index),
            lanes=tuple(self._lanes.index),
            lane_names=dict(self.lane_names),
            texts=tuple(self._texts.index),
            args={
                key: Sparse(np.array(rows, np.uint32), np.array(values, _DTYPES[kind]), kind)
                for key, (kind, rows, values) in self._args.items()
            },
            header=self.header,
        )


def events_of(trace: Mapping[str, Any] | list[Any]) -> Events:
    """The table of a trace that `json.loads` has read. The plain way: fast readers are tested against it."""
    found = trace.get("traceEvents", []) if isinstance(trace, Mapping) else trace
    fields = {key: value for key, value in trace.items() if key != "traceEvents"} if isinstance(trace, Mapping) else {}
    base = int(fields.get("baseTimeNanoseconds") or 0)
    builder = Builder(Header(fields=fields, base_ns=base))
    metadata = 0
    for event in found:
        if event.get("ph") == "M":
            metadata += 1
            _name_lane(builder.lane_names, event)
            continue
        args = dict(event["args"]) if isinstance(event.get("args"), Mapping) else {}
        if event.get("id") is not None:
            args = {"id": event["id"], **args}
        builder.add(
            str(event.get("name", "")),
            str(event.get("cat", "")),
            start=base + _ns(event.get("ts", 0)),
            dur=_ns(event["dur"]) if "dur" in event else (0 if event.get("ph") != "B" else -1),
            pid=event.get("pid", ""),
            tid=event.get("tid", ""),
            ph=str(event.get("ph", "?")),
            args=args,
        )
    builder.header = replace(builder.header, metadata=metadata)
    return builder.events()


def _ns(microseconds: Any) -> int:
    """Exact where a float is not: whole microseconds and thousandths are taken apart."""
    number = float(microseconds)
    whole = int(number // 1)
    return whole * 1000 + round((number - whole) * 1000)


_NAMING = {"process_name": ("name", ""), "thread_name": ("name", ""), "process_labels": ("labels", " labels"),
           "process_sort_index": ("sort_index", " sort"), "thread_sort_index": ("sort_index", " sort")}  # fmt: skip


def _name_lane(names: dict[str, str], event: Mapping[str, Any]) -> None:
    field, suffix = _NAMING.get(str(event.get("name")), ("", ""))
    args = event.get("args")
    if field and isinstance(args, Mapping) and field in args:
        lane = str(event.get("pid", "")) + (f"/{event.get('tid')}" if str(event["name"]).startswith("thread") else "")
        names[lane + suffix] = str(args[field])
