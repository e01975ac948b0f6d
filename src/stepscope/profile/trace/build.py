"""Builds an event table one event at a time: for our own collectors, and for small traces that are objects already."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stepscope.profile.trace.events import ARGUMENTS, Events, Header, Sparse, narrowed

_DTYPES = {"int": np.int64, "float": np.float64, "text": np.uint32}
_DECIMAL = re.compile(r"-?[0-9]+")
MOST_ARGUMENTS = 1024
"""Columns of arguments a table has at most; a trace has dozens. Values of further ones are counted and left out."""
MOST_CATS = 65535
MORE_CATS = "(more categories)"


class _Pool:
    """Strings, each once, in the order they came."""

    def __init__(self) -> None:
        self.index: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        return self.index.setdefault(value, len(self.index))


@dataclass
class _Column:
    """An argument of some rows."""

    kind: str
    rows: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


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
        self._args: dict[str, _Column] = {}
        self.dropped = 0
        """Values of arguments for which there was no column left."""

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
        lane = self._lanes.of((text_of(pid), text_of(tid)))
        letter = ord(ph[:1] or "?")
        self._rows.append((start, dur, letter if letter < 128 else 63, self._cat(cat), self._names.of(name), lane))
        for key, value in (args or {}).items():
            self._argue(len(self._rows) - 1, key, value)

    def _cat(self, cat: str) -> int:
        full = len(self._cats.index) >= MOST_CATS and cat not in self._cats.index
        return self._cats.of(MORE_CATS if full else cat)

    def _argue(self, row: int, key: str, value: Any) -> None:
        kind = self._kind(key, value)
        if kind != "text" and value is None and key in ARGUMENTS:
            return
        number = fitted(value, kind)
        if number is None and kind != "text":
            key, kind = f"{key} (text)", "text"
        column = self._args.get(key)
        if column is None and len(self._args) < MOST_ARGUMENTS:
            column = self._args[key] = _Column(kind)
        if column is None or column.kind != kind:
            self.dropped += 1
        elif not column.rows or column.rows[-1] != row:
            column.rows.append(row)
            if kind == "text":
                number = self._texts.of(value if isinstance(value, str) else json.dumps(value))
            column.values.append(number)

    def _kind(self, key: str, value: Any) -> str:
        """Of an argument: by its name, as in earlier rows, or by its value."""
        if key in ARGUMENTS:
            return ARGUMENTS[key]
        if key in self._args:
            return self._args[key].kind
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "float" if is_number else "text"

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
                key: Sparse(
                    np.array(column.rows, np.uint32),
                    narrowed(np.array(column.values, _DTYPES[column.kind])),
                    column.kind,
                )
                for key, column in self._args.items()
            },
            header=self.header,
        )


def text_of(value: Any) -> str:
    """A value as text: a string as it is, nothing as "", anything else as its JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def fitted(value: Any, kind: str) -> int | float | None:
    """The number a value is in a column of this kind; None when it is not."""
    if kind == "int" and isinstance(value, str) and _DECIMAL.fullmatch(value):
        value = int(value)
    if kind == "text" or not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if kind == "int":
        if isinstance(value, float):
            return int(value) if abs(value) < 9.2e18 and value.is_integer() else None
        return value if abs(value) < 1 << 63 else None
    try:
        return float(value)
    except OverflowError:
        return None


def events_of(trace: Mapping[str, Any] | list[Any]) -> Events:
    """The table of a trace that `json.loads` has read. The plain way: fast readers are tested against it."""
    found = trace.get("traceEvents", []) if isinstance(trace, Mapping) else trace
    fields = {key: value for key, value in trace.items() if key != "traceEvents"} if isinstance(trace, Mapping) else {}
    base = base_of(fields)
    builder = Builder(Header(fields=fields, base_ns=base))
    metadata = skipped = 0
    for event in found:
        if isinstance(event, Mapping) and event.get("ph") == "M":
            metadata += 1
            name_lane(builder.lane_names, event)
        elif not isinstance(event, Mapping) or not add_event(builder, event, base):
            skipped += 1
    builder.header = replace(builder.header, metadata=metadata, skipped=skipped)
    return builder.events()


def add_event(builder: Builder, event: Mapping[str, Any], base: int) -> bool:
    """One event as written in a trace; False when its times are not numbers."""
    start, dur, ph = ns_of(event.get("ts")), ns_of(event.get("dur")), text_of(event.get("ph", "?"))
    if start is None or dur is None:
        return False
    args = dict(event["args"]) if isinstance(event.get("args"), Mapping) else {}
    if event.get("id") is not None:
        args = {"id": event["id"], **args}
    builder.add(
        text_of(event.get("name")),
        text_of(event.get("cat")),
        start=base + start,
        dur=-1 if ph[:1] == "B" and event.get("dur") is None else dur,
        pid=event.get("pid"),
        tid=event.get("tid"),
        ph=ph,
        args=args,
    )
    return True


def base_of(fields: Mapping[str, Any]) -> int:
    """What is added to the times of a trace to make them Unix nanoseconds."""
    base = fields.get("baseTimeNanoseconds")
    return base if isinstance(base, int) and abs(base) < 1 << 62 else 0


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def ns_of(microseconds: Any) -> int | None:
    """Nanoseconds, exact to the last where a float is: whole microseconds and thousandths are taken apart."""
    if microseconds is None:
        return 0
    if isinstance(microseconds, str) and not (len(microseconds) < 63 and _NUMBER.fullmatch(microseconds)):
        return None
    if not isinstance(microseconds, int | float | str) or isinstance(microseconds, bool):
        return None
    if isinstance(microseconds, int) and abs(microseconds) >= 9_000_000_000_000_000:
        return None
    number = float(microseconds)
    if not abs(number) < 9e15:  # the year 2255; NaN too
        return None
    whole = int(number // 1)
    return whole * 1000 + round((number - whole) * 1000)


_NAMING = {"process_name": ("name", ""), "thread_name": ("name", ""), "process_labels": ("labels", " labels"),
           "process_sort_index": ("sort_index", " sort"), "thread_sort_index": ("sort_index", " sort")}  # fmt: skip


def name_lane(names: dict[str, str], event: Mapping[str, Any]) -> None:
    """Take what a metadata event says of a process or a thread."""
    what = text_of(event.get("name"))
    field, suffix = _NAMING.get(what, ("", ""))
    args = event.get("args")
    if field and isinstance(args, Mapping) and field in args:
        lane = text_of(event.get("pid")) + (f"/{text_of(event.get('tid'))}" if what.startswith("thread") else "")
        names[lane + suffix] = text_of(args[field])
