"""One trace on its way into a table: pieces to a scanner, what is broken is repaired or skipped, all of it counted."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field, replace

import numpy as np

from stepscope.common.units import bytes_text
from stepscope.errors import BadData
from stepscope.profile.trace.build import base_of, name_lane
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.pairs import paired
from stepscope.profile.trace.repair import repair_event
from stepscope.profile.trace.scanning import Scanner, Status
from stepscope.profile.trace.source import Source

_PIECE = 0
"""Bytes at once; 0: as the scanner likes it."""
_SEAM = 16 << 10
"""Of a piece, what is put behind the end of the last one."""
_LARGEST_EVENT = 256 << 20
_MOST_SKIPPED = 100_000


@dataclass
class Reading:
    """One trace on its way into a table."""

    source: Source
    scanner: Scanner
    repaired: int = 0
    skipped: int = 0
    truncated: bool = False
    notes: list[str] = field(default_factory=list)

    def run(self) -> None:
        """To the end of the file. Without the garbage collector: objects come and go by the million, none in a ring."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._run()
        finally:
            if collecting:
                gc.enable()

    def _run(self) -> None:
        held = b""
        while True:
            piece = self.source.read(max(_PIECE or self.scanner.piece_bytes, len(held)))
            at, seam = 0, held
            held = held + piece if len(piece) < 4 * _SEAM else piece
            if seam and held is piece:  # the event that lies in both; the rest of the piece need not be copied
                rest = self._take(seam + piece[:_SEAM], 0, final=False)
                if rest is None:
                    return
                at = _SEAM - len(rest)
                if at < 0:  # it is longer than that
                    at, held = 0, rest + piece[_SEAM:]
            rest = self._take(held, at, final=not piece)
            if rest is None:
                return
            held = rest
            if not piece:
                self.truncated = True
                return
            if len(held) > _LARGEST_EVENT:
                raise BadData(
                    f"{self.source.path}: one event is longer than {bytes_text(_LARGEST_EVENT)}; torch's are shorter; "
                    "is this a trace of torch.profiler?"
                )

    def _take(self, held: bytes, at: int, final: bool) -> bytes | None:
        """What is left of a piece when all whole events from `at` on were taken; None when the trace has ended."""
        while True:
            status, at, in_events = self.scanner.scan(held, at)
            if status is Status.DONE:
                return None
            if status is Status.MORE:
                return held[at:]
            if status is Status.ALIEN:
                raise self._alien(held[at : at + 20])
            behind = self._repaired(held, at, final) if in_events else self._behind_field(held, at, final)
            if behind is None:
                return held[at:]
            at = behind

    def _repaired(self, held: bytes, at: int, final: bool) -> int | None:
        found = repair_event(held, at, final)
        if found is None:
            return None
        if found.event is None:
            self.skipped += 1
            if self.skipped > _MOST_SKIPPED:
                raise BadData(
                    f"{self.source.path}: more than {_MOST_SKIPPED:,} events are not JSON; this is not a trace"
                )
        else:
            self.repaired += 1
            self.scanner.add(found.event)
        return found.end

    def _behind_field(self, held: bytes, at: int, final: bool) -> int | None:
        """A field beside the events that is not valid JSON: go on at the events."""
        events = held.find(b'"traceEvents"', at + 1)
        if events < 0 and not final:
            return None
        self.notes.append("a field beside the events is not valid JSON and was skipped")
        return events if events >= 0 else len(held)

    def _alien(self, begins: bytes) -> BadData:
        return BadData(
            f"{self.source.path} is not a trace: it starts with {begins!r}; expected the JSON that torch.profiler's "
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
        self._check_any(events, bool(lane_names))
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

    def _check_any(self, events: Events, has_metadata: bool) -> None:
        """A trace without a single event may be sound; one of which no event could be read is not."""
        skipped = events.header.skipped + self.skipped
        if len(events) or has_metadata or not (skipped or self.truncated or self.source.truncated):
            return
        why = f"{skipped:,} things in it are not events" if skipped else "it is cut off before the first one"
        raise BadData(
            f"{self.source.path} has no event that can be read: {why}; export the trace again and let it finish"
        )

    def _all_notes(self) -> list[str]:
        notes = list(dict.fromkeys(self.notes))
        if self.scanner.dropped:
            notes.append(f"{self.scanner.dropped:,} values of arguments were left out: there were too many arguments")
        if self.source.bad_text:
            notes.append("some names are not UTF-8; what could not be read is shown as �")
        return notes
