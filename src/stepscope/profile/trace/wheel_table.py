"""The event table of the scanner without compiled code: six columns in pieces, and the arguments by category."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from stepscope.profile.trace.build import ns_of, text_of
from stepscope.profile.trace.events import Events, Header, Ints
from stepscope.profile.trace.wheel_args import ArgsOfCategory
from stepscope.profile.trace.wheel_columns import Arguments, Cats, Lanes, Pool, whole_text

_NO_ID = -(1 << 63)
_LARGEST_US = 9e15
_MOST_TYPES = 256
"""Categories that get a type of their own."""
_DTYPES = (np.int64, np.int64, np.uint8, np.uint16, np.uint32, np.uint32)


class Event(msgspec.Struct, gc=False):
    """An event as torch writes them; others are taken one by one."""

    name: str = ""
    cat: str = ""
    ph: str = "?"
    pid: int | str = ""
    tid: int | str = ""
    ts: float = 0.0
    dur: float = float("nan")
    id: int = _NO_ID
    args: msgspec.Raw = None  # type: ignore[assignment]


_FIELDS: Any = attrgetter("name", "cat", "ph", "pid", "tid", "ts", "dur", "id", "args")


class Table:
    def __init__(self) -> None:
        self.n = 0
        self.arguments = Arguments()
        self._cats, self._names, self._lanes = Cats(), Pool(), Lanes()
        self._pieces: list[tuple[Ints, ...]] = []
        self._args: dict[int, ArgsOfCategory] = {}

    def take(self, events: list[Event]) -> bool:
        """These events; False, and none of them, when their times or ids are out of what a column holds."""
        if not events:
            return True
        name, cat, ph, pid, tid, ts, dur, ids, args = zip(*map(_FIELDS, events), strict=True)
        start_us, dur_us = (np.fromiter(one, np.float64, len(events)) for one in (ts, dur))
        if not (np.abs(start_us) < _LARGEST_US).all() or (np.abs(dur_us) >= _LARGEST_US).any():
            return False
        try:
            id_values = np.fromiter(ids, np.int64, len(events))
        except OverflowError:
            return False
        n = len(events)
        letters = np.fromiter(map(_LETTERS.__getitem__, ph), np.uint8, n)
        durations = _ns(np.nan_to_num(dur_us))
        durations[np.isnan(dur_us) & (letters == ord("B"))] = -1
        cats = np.fromiter(map(self._cats.__getitem__, cat), np.uint16, n)
        names = np.fromiter(map(self._names.__getitem__, name), np.uint32, n)
        lanes = np.fromiter(map(self._lanes.__getitem__, zip(pid, tid, strict=True)), np.uint32, n)
        self._pieces.append((_ns(start_us), durations, letters, cats, names, lanes))
        self._take_args(cats, args, id_values)
        self.n += n
        return True

    def _take_args(self, cats: Ints, args: tuple[Any, ...], ids: Ints) -> None:
        has = np.array([one is not None for one in args])
        with_id = np.flatnonzero(ids != _NO_ID)
        both = with_id[has[with_id]]
        for at in both.tolist():  # an `id` among the arguments comes first
            if b'"id"' in bytes(args[at]) and "id" in json.loads(bytes(args[at])):
                ids[at] = _NO_ID
        with_id = with_id[ids[with_id] != _NO_ID]
        self.arguments.put("id", "int", with_id + self.n, ids[with_id])
        readers: list[ArgsOfCategory] = []
        groups = np.minimum(cats, _MOST_TYPES)
        for group in np.unique(groups[has]).tolist():
            at = np.flatnonzero(has & (groups == group))
            reader = self._args.setdefault(group, ArgsOfCategory(self.arguments))
            reader.take(at + self.n, [args[one] for one in at.tolist()])
            readers.append(reader)
        fresh = [one for reader in readers for one in reader.fresh]
        if fresh:
            firsts = self.arguments.settle(fresh)
            for reader in readers:
                for key in {key for key, _, _ in reader.fresh}:
                    reader.settle(key, firsts.get(key))
                reader.fresh.clear()

    def take_odd(self, event: dict[str, Any]) -> bool:
        """One event of any types; False when its times are not numbers."""
        start, dur, ph = ns_of(event.get("ts")), ns_of(event.get("dur")), text_of(event.get("ph", "?"))
        if start is None or dur is None:
            return False
        letter = ord(ph[:1] or "?")
        endless = ph[:1] == "B" and event.get("dur") is None
        row = (
            start,
            -1 if endless else dur,
            letter if letter < 128 else ord("?"),
            self._cats[whole_text(text_of(event.get("cat")))],
            self._names[whole_text(text_of(event.get("name")))],
            self._lanes[whole_text(text_of(event.get("pid"))), whole_text(text_of(event.get("tid")))],
        )
        self._pieces.append(tuple(np.array([value], dtype) for value, dtype in zip(row, _DTYPES, strict=True)))
        args = dict(event["args"]) if isinstance(event.get("args"), dict) else {}
        if event.get("id") is not None:
            args = {"id": event["id"], **args}
        for key, value in args.items():
            self.arguments.put_one(self.n, whole_text(key), value, lambda value=value: json.dumps(value))  # type: ignore[misc]
        self.n += 1
        return True

    def events(self, skipped: int, metadata: int) -> Events:
        columns = zip(*self._pieces, strict=True) if self._pieces else [[np.zeros(0, dtype)] for dtype in _DTYPES]
        start, dur, ph, cat, name, lane = (np.concatenate(pieces) for pieces in columns)
        self._pieces.clear()
        return Events(
            start=start,
            dur=dur,
            ph=ph,
            cat=cat,
            name=name,
            lane=lane,
            cats=tuple(self._cats),
            names=tuple(self._names),
            lanes=tuple(self._lanes.lanes),
            lane_names={},
            texts=self.arguments.texts.strings(),
            args=self.arguments.sparse(),
            header=Header(skipped=skipped, metadata=metadata),
        )


class _Letters(dict[str, int]):
    def __missing__(self, ph: str) -> int:
        letter = ord(ph[:1] or "?")
        found = self[ph] = letter if letter < 128 else ord("?")
        return found


_LETTERS = _Letters()


def _ns(us: Ints) -> Ints:
    """As `ns_of` in build.py."""
    whole = np.floor(us)
    found: Ints = whole.astype(np.int64) * 1000 + np.rint((us - whole) * 1000).astype(np.int64)
    return found
