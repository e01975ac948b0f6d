"""An event table as a Chrome trace: what Perfetto, chrome://tracing and torch's own tools read."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

import msgspec
import numpy as np

from stepscope.profile.trace.events import Events

_BLOCK = 4096
_LISTS = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs", "grid", "block"}
"""Text columns that hold JSON lists as they were written; they go out as lists again."""


def write_chrome(events: Events, path: str | Path) -> None:
    """Write the trace to a file, gzipped when its name ends in `.gz`; it is there whole or not at all."""
    path = Path(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file, _packed(file, path.suffix == ".gz") as out:
            for piece in chrome_bytes(events):
                out.write(piece)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _packed(file: IO[bytes], yes: bool) -> AbstractContextManager[IO[bytes]]:
    if not yes:
        return nullcontext(file)
    return cast(AbstractContextManager[IO[bytes]], gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6))


def chrome_bytes(events: Events) -> Iterator[bytes]:
    """The trace as JSON, piece by piece."""
    base = events.header.base_ns
    fields = {key: value for key, value in events.header.fields.items() if key != "traceEvents"}
    if base:
        fields["baseTimeNanoseconds"] = base
    head = json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms", **fields})
    yield head[:-1].encode() + b', "traceEvents": [\n'
    comma = b""
    named = list(_lane_events(events))
    if named:
        yield b",\n".join(named)
        comma = b",\n"
    for begin in range(0, len(events), _BLOCK):
        rows = _rows(events, begin, min(begin + _BLOCK, len(events)), base)
        yield comma + b",\n".join(rows)
        comma = b",\n"
    yield b"\n]}\n"


_NAMES = {
    "": ("process_name", "name"),
    " labels": ("process_labels", "labels"),
    " sort": ("process_sort_index", "sort_index"),
}


def _lane_events(events: Events) -> Iterator[bytes]:
    for key, value in events.lane_names.items():
        suffix = next(end for end in (" labels", " sort", "") if key.endswith(end))
        pid, _, tid = key.removesuffix(suffix).partition("/")
        what, field = _NAMES[suffix]
        said: Any = int(value) if field == "sort_index" and value.lstrip("-").isdecimal() else value
        yield msgspec.json.encode({
            "ph": "M", "name": what.replace("process", "thread") if tid else what, "pid": _number(pid),
            "tid": _number(tid) if tid else 0, "ts": 0, "args": {field: said},
        })  # fmt: skip


def _rows(events: Events, begin: int, end: int, base: int) -> list[bytes]:
    args: list[dict[str, Any]] = [{} for _ in range(end - begin)]
    ids: dict[int, int] = {}
    for key, column in events.args.items():
        first, last = np.searchsorted(column.rows, [begin, end])
        places = (column.rows[first:last].astype(np.int64) - begin).tolist()
        values = column.values[first:last].tolist()
        if key == "id":
            ids = dict(zip(places, values, strict=True))
            continue
        for place, value in zip(places, values, strict=True):
            args[place][key.removesuffix(" (text)")] = _text(events, key, value) if column.kind == "text" else value
    columns = (events.start, events.dur, events.ph, events.cat, events.name, events.lane)
    parts = zip(*(column[begin:end].tolist() for column in columns), strict=True)
    return [_event(events, one, args[place], ids.get(place), base, place in ids) for place, one in enumerate(parts)]


def _event(
    events: Events, one: tuple[int, ...], args: dict[str, Any], flow: int | None, base: int, has_id: bool
) -> bytes:
    start, dur, ph, cat, name, lane = one
    pid, tid = events.lanes[lane]
    letter = chr(ph)
    said: dict[str, Any] = {"ph": letter, "name": events.names[name]}
    if events.cats[cat]:
        said["cat"] = events.cats[cat]
    if has_id:
        said["id"] = flow
    said |= {"pid": _number(pid), "tid": _number(tid), "ts": _microseconds(start - base)}
    if letter == "X":
        said["dur"] = _microseconds(max(dur, 0))
    elif letter in "ft":
        said["bp"] = "e"
    elif letter == "i":
        said["s"] = "t"
    if args:
        said["args"] = args
    return msgspec.json.encode(said)


def _text(events: Events, key: str, value: int) -> Any:
    text = events.texts[value]
    return msgspec.Raw(text.encode()) if key in _LISTS and text[:1] == "[" and _is_json(text) else text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> Any:
    return int(text) if text.isdecimal() and (text == "0" or text[0] != "0") else text


def _microseconds(ns: int) -> msgspec.Raw:
    """Exact: a float of microseconds since 1970 would round to the quarter."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return msgspec.Raw(f"{sign}{ns // 1000}.{ns % 1000:03d}".encode())
