"""The scanner without Stepscope's compiled code: msgspec decodes a stretch of events at once, numpy makes them columns.

msgspec needs whole JSON values, so a stretch is cut where one event ends and the next begins. What it refuses is
halved until only that is left, and looked at alone; what is no JSON at all is left to the caller, as by scanner.c.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import msgspec

from stepscope.profile.trace.events import Events
from stepscope.profile.trace.json_extent import member_start, value_end
from stepscope.profile.trace.scanning import Found, Status
from stepscope.profile.trace.wheel_table import Event, Table

_BLANK = re.compile(rb"[ \t\n\r]*")
_SEPARATORS = re.compile(rb"[ \t\n\r,]*")
_BETWEEN = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
_LONGEST, _SHORTEST = 1 << 20, 2 << 10
"""Bytes that are given to msgspec at once."""
_TRIES = 64
_PH = attrgetter("ph")
_EVENTS: Any = msgspec.json.Decoder(list[Event])
_EVENT: Any = msgspec.json.Decoder(Event)
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class WheelScanner:
    """Give it the trace piece by piece, then take the table."""

    piece_bytes = 256 << 10  # so that its objects stay in the processor's caches

    def __init__(self) -> None:
        self.has_events = False
        self._table = Table()
        self._state = "beginning"
        self._nested = False
        self._stretch = _LONGEST
        self._fields: dict[str, Any] = {}
        self._metadata: list[Any] = []
        self._skipped = 0

    def scan(self, piece: bytes, at: int = 0) -> Found:
        """Take all whole events of a piece, from an offset."""
        status = Status.OK
        while status is Status.OK:
            at = _behind(_BLANK if self._state == "beginning" else _SEPARATORS, piece, at)
            if self._state == "finished":
                status = Status.DONE
            elif at >= len(piece):
                status = Status.MORE
            elif self._state == "beginning":
                status, at = self._begin(piece, at)
            elif self._state == "top":
                status, at = self._field(piece, at)
            else:
                status, at = self._elements(piece, at)
        return Found(status, at, self._state == "events")

    def _begin(self, piece: bytes, at: int) -> tuple[Status, int]:
        first = piece[at : at + 1]
        if first not in {b"{", b"["}:
            return Status.ALIEN, at
        self._state = "top" if first == b"{" else "events"
        self.has_events = self._state == "events"
        return Status.OK, at + 1

    def _field(self, piece: bytes, at: int) -> tuple[Status, int]:
        """A member of the outermost object: the list of events, or a field beside it."""
        if piece[at : at + 1] == b"}":
            self._state = "finished"
            return Status.OK, at + 1
        status, key, value = member_start(piece, at)
        if status is not Status.OK:
            return status, at
        if key == b'"traceEvents"' and piece[value : value + 1] == b"[":
            self._state, self._nested, self.has_events = "events", True, True
            return Status.OK, value + 1
        status, end = value_end(piece, value)
        if status is Status.OK and end >= len(piece):
            status = Status.MORE
        if status is not Status.OK:
            return status, at
        self._fields[json.loads(key)] = json.loads(piece[value:end])
        return Status.OK, end

    def _elements(self, piece: bytes, at: int) -> tuple[Status, int]:
        """As many events as msgspec takes at once, or one of them."""
        if piece[at : at + 1] == b"]":
            self._state = "top" if self._nested else "finished"
            return Status.OK, at + 1
        end = _last_between(piece, at, min(len(piece), at + self._stretch))
        if end > at and self._take(piece[at:end]):
            self._stretch = min(_LONGEST, 2 * self._stretch)
            return Status.OK, end
        if end > at and end - at > _SHORTEST:
            self._stretch = max(_SHORTEST, (end - at) // 2)
            return Status.OK, at
        status, end = value_end(piece, at)
        if status is not Status.OK:
            return status, at
        self._take_one(piece[at:end])
        self._stretch = 2 * _SHORTEST
        return Status.OK, end

    def _take(self, events: bytes) -> bool:
        try:
            found = _EVENTS.decode(b"[" + events + b"]")
        except _REFUSED:
            return False
        if "M" in map(_PH, found):
            if not self._take_metadata(events):
                return False
            found = [event for event in found if event.ph != "M"]
        return self._table.take(found)

    def _take_metadata(self, events: bytes) -> bool:
        try:
            whole = json.loads(b"[" + events + b"]")
        except (ValueError, RecursionError):
            return False
        self._metadata += [event for event in whole if event.get("ph") == "M"]
        return True

    def _take_one(self, raw: bytes) -> None:
        if not raw.startswith(b"{"):
            self._skipped += 1
            return
        try:
            event = _EVENT.decode(raw)
        except _REFUSED:
            event = None
        if event is not None and event.ph != "M" and self._table.take([event]):
            return
        try:
            self.add(json.loads(raw))
        except RecursionError:
            self._skipped += 1

    def add(self, event: dict[str, Any]) -> None:
        """One event that was repaired, or that has other types than events have."""
        if event.get("ph") == "M":
            self._metadata.append(event)
        elif not self._table.take_odd(event):
            self._skipped += 1

    def events(self) -> Events:
        """The table of what was scanned."""
        return self._table.events(skipped=self._skipped, metadata=len(self._metadata))

    def metadata(self) -> Iterator[Any]:
        return iter(self._metadata)

    def fields(self) -> dict[str, Any]:
        return self._fields

    @property
    def dropped(self) -> int:
        return self._table.arguments.dropped


def _behind(pattern: re.Pattern[bytes], piece: bytes, at: int) -> int:
    found = pattern.match(piece, at)
    return at if found is None else found.end()


def _last_between(piece: bytes, at: int, limit: int) -> int:
    """Behind the last event that another one follows, as far as one can see from outside; `at` when there is none."""
    end = limit
    for _ in range(_TRIES):
        end = piece.rfind(b"}", at, end)
        if end < 0:
            return at
        if _BETWEEN.match(piece, end):
            return end + 1
    return at
