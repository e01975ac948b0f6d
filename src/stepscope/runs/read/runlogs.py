"""All log files of one run, followed together: which exist, what each contains, and what is new."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from stepscope.common import clocks
from stepscope.errors import BadData, NotFound
from stepscope.records import FORMAT, Console, End, Event, FileHeader, Media, RankGone, RankJoined, RankSaid
from stepscope.runs.format.layout import COMPACT, log_files
from stepscope.runs.points.rank_cells import series_of
from stepscope.runs.read.batches import Batch
from stepscope.runs.read.logs import LogReader, decode_event
from stepscope.runs.read.segments import Segment
from stepscope.runs.read.status import LogState

_MOST_BYTES = 512 << 20
"""Number of points kept in memory; beyond, finished segments are reread from disk on demand."""

_TRIM_BYTES = 4 << 20
"""Bytes read between memory checks."""


@dataclass(eq=False)
class Part:
    """One segment with its content."""

    segment: Segment
    path: Path
    sound: bool = True
    """False for a section of a damaged compacted file: the original, if it still exists, is better."""
    complete: bool = False
    events: list[tuple[int, Event]] = field(default_factory=list)
    media: list[tuple[int, Media]] = field(default_factory=list)
    console: list[tuple[int, Console]] = field(default_factory=list)
    end: End | None = None
    heartbeat: float | None = None
    last_time: float = 0.0
    beat_seen: float = 0.0
    beat_moved: bool = False
    node: Part | None = None
    """For a rank whose log stayed on its node: the newest part of the node's log, by which it is known to live."""
    header: FileHeader = field(init=False)

    def __post_init__(self) -> None:
        self.header = self.segment.header

    def add(self, batch: Batch, now: float, first: bool) -> None:
        self.segment.add(batch)
        self.events += batch.events
        self.media += batch.media
        self.console += batch.console
        self.complete |= batch.sealed
        for _seq, event in batch.events:
            if isinstance(event, End):
                self.end = event
        if batch.heartbeat is not None and batch.heartbeat != self.heartbeat:
            self.beat_moved = not first
            self.beat_seen = now
            self.heartbeat = max(self.heartbeat or batch.heartbeat, batch.heartbeat)
        self.last_time = max(self.last_time, _last_time(batch))

    @property
    def log(self) -> str:
        """The id of the log that this is a segment of."""
        return self.header.file_id.partition(".")[0]

    def state(self, now: float) -> LogState:
        if self.node is not None:
            life = self.node.state(now)
            return LogState(self.header, life.heartbeat, self.end, life.watched_s, life.moved)
        signs = [sign for sign in (self.heartbeat, self.last_time or None) if sign is not None]
        return LogState(self.header, max(signs, default=None), self.end, now - self.beat_seen, self.beat_moved)


def _last_time(batch: Batch) -> float:
    """The newest time of a row: a process that logs is alive."""
    times = [float(rows.times[-1]) for rows in batch.rows if len(rows.times)]
    return max(times, default=0.0)


@dataclass(frozen=True)
class Entry:
    """A record with its origin."""

    part: Part
    seq: int
    record: Any
    """An event, a medium or a piece of console output."""


class RunLogs:
    """Follows a run's folder. Not thread-safe: `RunFolder` holds the lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: dict[str, Part] = {}
        """By the file id in the header."""
        self.readers: dict[Path, LogReader] = {}
        self.media_files: set[Path] = set()
        self.version = 0
        self.console: list[Entry] = []
        self._untrimmed = 0
        """Bytes read since the last memory check."""
        self._ignored: set[Path] = set()
        self._nameless: dict[Path, list[Batch]] = {}
        """What was read of files whose header is damaged, until they repeat it."""
        self._led: tuple[int, list[Part]] = (-1, [])
        """The ranks that nodes have passed on, and for which version that is."""

    def refresh(self, final: bool = False) -> bool:
        """Read what is new; True if there was anything. `final`: no process writes to this run any more."""
        changed = False
        files = log_files(self.path)  # listed before the compacted ones: what is compacted meanwhile is in one or both
        for path in self._compacted():
            changed |= self._follow(path, final, sections=True)
        for path in files:
            if ".media." in path.name:  # image bytes: read on demand
                changed |= path not in self.media_files
                self.media_files.add(path)
            elif path not in self._ignored:
                changed |= self._follow(path, final)
        self.version += changed
        return changed

    def _compacted(self) -> list[Path]:
        return log_files(self.path / COMPACT)

    def _follow(self, path: Path, final: bool, sections: bool = False) -> bool:
        reader = self.readers.get(path)
        first = reader is None
        if reader is None:
            reader = self.readers[path] = LogReader(path, sections=sections, within=self.path)
        elif reader.sealed and not reader.tail and not reader.holes and not sections:
            return False
        before = (reader.offset, len(reader.holes), reader.held_rows)
        now = clocks.monotonic()
        for batch in reader.poll(final or sections):  # compacted files do not grow
            self._take(batch, path, reader, now, first, sections)
        self._untrimmed += max(reader.offset - before[0], 0)
        if self._untrimmed > _TRIM_BYTES:  # not after each file: a run with thousands of ranks has as many
            self.trim()
        if reader.unsupported is not None:
            raise BadData(
                f"{path} has format {reader.unsupported}, this Stepscope reads up to {FORMAT}; "
                "update with: pip install -U stepscope"
            )
        return before != (reader.offset, len(reader.holes), reader.held_rows)

    def _take(self, batch: Batch, path: Path, reader: LogReader, now: float, first: bool, sections: bool) -> None:
        if batch.header is None:
            if not sections:
                self._nameless.setdefault(path, []).append(batch)
            return
        name = batch.header.file_id
        known = self.parts.get(name)
        sound = not (sections and (reader.holes or reader.tail))
        if known is not None and known.path != path:
            if not self._is_better(known, sections, sound):
                if not sections:
                    self._ignored.add(path)
                return
            self._forget(known)
            known = None
        if known is None:
            known = self.parts[name] = Part(Segment(batch.header), path, sound, beat_seen=now)
            known.segment.reload = partial(self._reload, name)
        for one in (*self._nameless.pop(path, ()), batch):
            known.add(one, now, first)
            self.console += [Entry(known, seq, piece) for seq, piece in one.console]

    def _is_better(self, known: Part, sections: bool, sound: bool) -> bool:
        """Whether another file with the same segment should replace the current one."""
        if sections:  # compacted since reading began: only better if the end was not reached
            reader = self.readers[known.path]
            return sound and not (known.complete and not reader.holes and not reader.tail)
        return not known.sound

    def _forget(self, part: Part) -> None:
        del self.parts[part.header.file_id]
        self.console = [entry for entry in self.console if entry.part is not part]

    def trim(self) -> None:
        """Stay within the memory limit: drop the least recently used finished segments first."""
        self._untrimmed = 0
        held = [part.segment for part in self.parts.values() if part.complete]
        total = sum(segment.nbytes for segment in held)
        for segment in sorted(held, key=lambda segment: segment.used):
            if total <= _MOST_BYTES:
                break
            total -= segment.nbytes
            segment.drop()

    def _reload(self, name: str) -> Segment:
        """Reread a segment from its log file or the compacted one that replaced it."""
        part = self.parts[name]
        self.trim()  # a query over a long run reloads one segment after the other
        for path in (part.path, *self._compacted()):
            fresh = Segment(part.header)
            for batch in LogReader(path, sections=path.parent.name == COMPACT, within=self.path).poll(final=True):
                if batch.header is not None and batch.header.file_id == name:
                    fresh.add(batch)
            if fresh.points:
                return fresh
        raise NotFound(f"{part.path} is gone; it was there when run {self.path.name} was opened")

    # -- what there is -----------------------------------------------------------------------------------------

    def everything(self) -> list[Part]:
        """All segments: those that are here, and what nodes have passed on of logs that are not."""
        version = self.version
        if self._led[0] != version:
            self._led = version, led_parts(self.parts.values())
        return [*self.parts.values(), *self._led[1]]

    def ordered(self) -> list[Part]:
        """The segments by attempt, then by when they began."""
        return sorted(
            self.everything(),
            key=lambda part: (part.header.attempt, part.header.base_time, part.header.segment, part.header.file_id),
        )

    def series(self) -> dict[str, dict[int, list[Segment]]]:
        """Every series: by rank, the segments that contain it. System metrics come last."""
        found: dict[str, dict[int, list[Segment]]] = {}
        for part in self.ordered():
            for name in part.segment.names if part.header.role != "node" else ():
                found.setdefault(name, {}).setdefault(part.header.rank, []).append(part.segment)
        return dict(sorted(found.items(), key=lambda item: (item[0].startswith("system/"), item[0])))

    def node_series(self) -> dict[str, dict[str, list[Segment]]]:
        """Every series that nodes keep of their ranks: by machine, the segments that have it."""
        found: dict[str, dict[str, list[Segment]]] = {}
        for part in self.ordered():
            if part.header.role == "node":
                for name in dict.fromkeys(map(series_of, part.segment.names)):
                    found.setdefault(name, {}).setdefault(part.header.host, []).append(part.segment)
        return found

    def node_ranks(self) -> dict[str, list[int]]:
        """The ranks of each node, by machine."""
        found: dict[str, set[int]] = {}
        for part in self.parts.values():
            if part.header.role == "node":
                joined = {event.header.rank for _, event in part.events if isinstance(event, RankJoined)}
                found.setdefault(part.header.host, set()).update(joined)
        return {host: sorted(ranks) for host, ranks in found.items()}

    def events(self) -> Iterator[Entry]:
        """All events in order: within one log as written, across logs by their clocks."""
        return iter(in_order(self.ordered()))

    def states(self) -> list[LogState]:
        now = clocks.monotonic()
        return [part.state(now) for part in self.everything()]

    @property
    def has_open_ends(self) -> bool:
        """Whether a file ends in bytes that are not a frame."""
        return any(reader.tail for reader in self.readers.values())


def in_order(parts: Iterable[Part]) -> list[Entry]:
    """The events of all logs merged.

    Within a log the sequence numbers define the order, whatever the clock did. Between logs there is only the clock: if
    an event is later than one that follows it in its own log, the clock was ahead, and it gets that event's time.
    Events of a later attempt come after all earlier ones of the training.
    """
    logs: dict[tuple[int, str], list[Entry]] = {}
    for part in sorted(parts, key=lambda part: part.header.segment):
        attempt = part.header.attempt if part.header.role == "run" else 0
        log = logs.setdefault((attempt, part.header.file_id.partition(".")[0]), [])
        log += [Entry(part, seq, event) for seq, event in part.events if not isinstance(event, _OF_RANKS)]
    placed: list[tuple[float, Entry]] = []
    floor = earlier = -math.inf
    attempt = 0
    for (number, _), log in sorted(logs.items(), key=lambda item: item[0]):
        if number > attempt:
            attempt, floor = number, earlier
        moments = [max(moment, floor) for moment in _as_old_as_later_ones(log)]
        placed += zip(moments, log, strict=True)
        earlier = max([earlier, *moments])
    return [entry for _, entry in sorted(placed, key=lambda one: one[0])]


def _as_old_as_later_ones(log: list[Entry]) -> list[float]:
    """The times of a log's events, made non-decreasing."""
    times: list[float] = []
    for entry in reversed(log):
        moment = float(entry.record.time)
        times.append(min(moment, times[-1]) if times else moment)
    return times[::-1]


_OF_RANKS = (RankJoined, RankSaid, RankGone)


def led_parts(parts: Iterable[Part]) -> list[Part]:
    """The ranks in the logs of nodes, except those whose own logs are here."""
    nodes = [part for part in parts if part.header.role == "node"]
    here = {part.log for part in parts} if nodes else set()
    nodes.sort(key=lambda part: (part.header.base_time, part.header.segment))
    newest = {node.log: node for node in nodes}
    led: dict[str, Part] = {}
    reported: dict[str, dict[tuple[int, int], Event]] = {}
    for node in nodes:
        for _seq, event in node.events:
            if isinstance(event, RankJoined):
                log = event.header.file_id.partition(".")[0]
                if log not in here:
                    led.setdefault(log, Part(Segment(event.header), node.path)).node = newest[node.log]
            elif isinstance(event, RankGone) and event.log in led:
                led[event.log].node, led[event.log].heartbeat = None, event.time
            elif isinstance(event, RankSaid) and event.log not in here:
                with suppress(msgspec.MsgspecError):  # of a newer version
                    reported.setdefault(event.log, {})[event.segment, event.seq] = decode_event(event.content)
    for log, part in led.items():
        _add_events(part, reported.get(log, {}))
    return list(led.values())


def _add_events(part: Part, events: dict[tuple[int, int], Event]) -> None:
    """Events by segment and position there."""
    part.events = [(segment << 32 | seq, event) for (segment, seq), event in sorted(events.items())]
    part.end = next((event for _, event in reversed(part.events) if isinstance(event, End)), None)
