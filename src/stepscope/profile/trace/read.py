"""Reads any torch trace into an event table: plain or gzipped, cut off, with broken names, of any device.

    events = read_trace("trace.json.gz")
    tables = read_ranks(["rank0.json", "rank1.json"])      # or a folder of traces

A trace is scanned in pieces by the compiled scanner where it was built, else by msgspec; both make the same table. It
is then kept as columns beside the trace (`trace.json.gz.stepscope`), so that it opens at once the second time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from stepscope.errors import BadData, UsageError
from stepscope.profile.trace.build import base_of, name_lane
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.mend import mend
from stepscope.profile.trace.pairs import paired
from stepscope.profile.trace.scan_compiled import CompiledScanner, library
from stepscope.profile.trace.scanning import Scanner, Status
from stepscope.profile.trace.source import LARGEST, Source

__all__ = ["read_trace"]

Which = Literal["auto", "compiled", "wheel"]
_PIECE = 1 << 20
_LARGEST_EVENT = 256 << 20
_MOST_SKIPPED = 100_000


def read_trace(path: Path | str, *, scanner: Which = "auto", cache: bool = True, largest: int | None = None) -> Events:
    """The table of a trace file.

    `scanner`: "compiled" or "wheel" (msgspec) insist on one; "auto" takes the compiled one where it is built. `cache`:
    use and write the column file beside the trace. `largest`: bytes of JSON that are read at most.
    """
    path = Path(path)
    with Source(path, largest or _largest_allowed()) as source:
        reading = _Reading(source, _scanner(scanner))
        reading.run()
        return reading.table()


def _scanner(which: Which) -> Scanner:
    if which == "compiled" or (which == "auto" and library() is not None):
        return CompiledScanner()
    if which not in {"auto", "wheel"}:
        raise UsageError(f"there is no scanner {which!r}; there are auto, compiled and wheel")
    from stepscope.profile.trace.scan_wheel import WheelScanner

    return WheelScanner()


def _largest_allowed() -> int:
    said = os.environ.get("STEPSCOPE_LARGEST_TRACE", "").strip().upper()
    if not said:
        return LARGEST
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(said[-1:], 1)
    digits = said.rstrip("KMG")
    if not digits.isdecimal():
        raise UsageError(f"STEPSCOPE_LARGEST_TRACE={said!r} is no size; write it as 4000M or 40G")
    return int(digits) * unit


@dataclass
class _Reading:
    """One trace on its way into a table."""

    source: Source
    scanner: Scanner
    repaired: int = 0
    skipped: int = 0
    truncated: bool = False
    notes: list[str] = field(default_factory=list)

    def run(self) -> None:
        held = b""
        while True:
            piece = self.source.read(max(_PIECE, len(held)))
            held = held + piece if held else piece
            rest = self._take(held, final=not piece)
            if rest is None:
                return
            held = rest
            if not piece:
                self.truncated = True
                return
            if len(held) > _LARGEST_EVENT:
                raise BadData(
                    f"{self.source.path}: one event is longer than {_LARGEST_EVENT >> 20} MB, as none of torch's is; "
                    "is this a trace of torch.profiler?"
                )

    def _take(self, held: bytes, final: bool) -> bytes | None:
        """What is left of a piece when all whole events were taken; None when the trace has ended."""
        at = 0
        while True:
            status, at, in_events = self.scanner.scan(held, at)
            if status is Status.DONE:
                return None
            if status is Status.MORE:
                return held[at:]
            if status is Status.ALIEN:
                raise self._alien(held[at : at + 20])
            behind = self._mended(held, at, final) if in_events else self._behind_field(held, at, final)
            if behind is None:
                return held[at:]
            at = behind

    def _mended(self, held: bytes, at: int, final: bool) -> int | None:
        found = mend(held, at, final)
        if found is None:
            return None
        if found.event is None:
            self.skipped += 1
            if self.skipped > _MOST_SKIPPED:
                raise BadData(f"{self.source.path}: more than {_MOST_SKIPPED:,} events are no JSON; this is no trace")
        else:
            self.repaired += 1
            self.scanner.add(found.event)
        return found.end

    def _behind_field(self, held: bytes, at: int, final: bool) -> int | None:
        """A field beside the events that is no JSON: go on at the events."""
        events = held.find(b'"traceEvents"', at + 1)
        if events < 0 and not final:
            return None
        self.notes.append("a field beside the events is no valid JSON and was left out")
        return events if events >= 0 else len(held)

    def _alien(self, begins: bytes) -> BadData:
        return BadData(
            f"{self.source.path} is no trace: it begins with {begins!r}; expected the JSON that torch.profiler's "
            "export_chrome_trace writes, plain or gzipped"
        )

    def table(self) -> Events:
        source, scanner = self.source, self.scanner
        if not scanner.has_events:
            if not source.json_bytes:
                raise BadData(f"{source.path} is empty; was the profile stopped before its trace was exported?")
            raise BadData(f"{source.path} is JSON but no trace: it has no traceEvents")
        events = scanner.events()
        lane_names: dict[str, str] = {}
        for event in scanner.metadata():
            name_lane(lane_names, event)
        fields = scanner.fields()
        base = base_of(fields)
        if base:
            np.add(events.start, base, out=events.start)
        header = replace(
            events.header,
            fields=fields,
            path=str(source.path),
            file_bytes=source.file_bytes,
            json_bytes=source.json_bytes,
            truncated=self.truncated or source.truncated,
            repaired=self.repaired,
            skipped=events.header.skipped + self.skipped,
            base_ns=base,
            notes=tuple(self._all_notes()),
        )
        return paired(replace(events, lane_names=lane_names, header=header))

    def _all_notes(self) -> list[str]:
        notes = list(dict.fromkeys(self.notes))
        if self.scanner.dropped:
            notes.append(f"{self.scanner.dropped:,} values of arguments were left out: there were too many arguments")
        if self.source.bad_text:
            notes.append("some names are no UTF-8; what could not be read in them is shown as �")
        return notes
