"""The full content of one log file or compacted section, in a comparable form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.files.opening import read_file
from stepscope.records import FileHeader
from stepscope.runs.format.chunks import decode_chunk
from stepscope.runs.format.frames import Frame, Kind, decode_at
from stepscope.runs.read.batches import Keysets, Rows
from stepscope.runs.read.frame_scanner import Chain, read_chain

_define_decoder = msgspec.msgpack.Decoder(tuple[int, list[str]])
_WINDOW = 64 << 10
_WIDEST = 8 << 20
LARGEST_SOURCE = 512 << 20
"""Log files are compacted whole. Segments end at 16 MiB; a larger file is not a segment and is left alone."""
_MALFORMED = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_header_decoder = msgspec.msgpack.Decoder(FileHeader)


class Points(NamedTuple):
    """One series of one file, in logging order."""

    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    exact: dict[int, int]

    def is_same(self, other: Points) -> bool:
        """Equal to the last bit, including NaN and negative zero."""
        columns = zip(self[:3], other[:3], strict=True)
        return self.exact == other.exact and all(
            len(one) == len(two) and bool((one.view(np.uint64) == two.view(np.uint64)).all()) for one, two in columns
        )


@dataclass
class Source:
    """The content of a log file, without keyset definitions, which only name the points."""

    header: FileHeader
    header_frame: bytes
    series: dict[str, Points] = field(default_factory=dict)
    others: list[tuple[int, bytes]] = field(default_factory=list)
    """Kind and payload of all other frames except seals, in order; only the last heartbeat."""

    @property
    def points(self) -> int:
        return sum(len(points.values) for points in self.series.values())

    def is_same(self, other: Source) -> bool:
        return (
            self.header_frame == other.header_frame
            and self.others == other.others
            and self.series.keys() == other.series.keys()
            and all(points.is_same(other.series[name]) for name, points in self.series.items())
        )


def read_source(path: Path) -> Source:
    """Everything in a log file; `BadData` if any byte is unaccounted for."""
    data = read_file(path, LARGEST_SOURCE, within=path.parent)
    source, first = _beginning(data)
    keysets = Keysets()
    parts: dict[str, list[Points]] = {}
    position, seq = first.end, first.seq
    window = _WINDOW
    while position < len(data):
        chain, others = _next_chain(data, position, window, seq)
        if chain.duplicates or chain.seq != seq + chain.frames:
            raise BadData(f"frames are missing after byte {position}")
        keysets.add(chain.rows)
        for frame in others:
            if frame.kind == Kind.CHUNK:
                _take_chunk(frame, parts)
            else:
                _take(frame, source, keysets)
        position, seq = chain.end, chain.seq
        window = min(_WIDEST, 4 * window) if chain.frames >= 16 else _WINDOW
    rows = keysets.take(source.header.base_time)
    if keysets.held_rows:
        raise BadData(f"{keysets.held_rows} rows lack their names")
    if rows and parts:
        raise BadData("it contains both rows and columns")  # the order between them would be lost
    source.series = _by_series(rows) if rows else {name: _joined(points) for name, points in parts.items()}
    source.others = _last_heartbeat(source.others)
    return source


def _beginning(data: bytes) -> tuple[Source, Frame]:
    """The header of a log of points."""
    first = decode_at(memoryview(data), 0)
    if first is None or first.kind != Kind.HEADER:
        raise BadData("it does not begin with a header")
    source = _new_source(first)
    if source.header.kind != "points":
        raise BadData("it contains media, which are already compact")
    return source, first


def _next_chain(data: bytes, position: int, window: int, seq: int) -> tuple[Chain, list[Frame]]:
    """The frames from `position` on, at least one. The window avoids searching a file of many short chains to its
    end for each of them."""
    chain = read_chain(data, position, min(len(data), position + window), seq)
    if chain.frames:
        return chain, chain.others
    frame = decode_at(memoryview(data), position)
    if frame is None:
        raise BadData(f"it is damaged at byte {position}")
    if frame.kind in (Kind.DEFINE, Kind.HEADER):  # chains stop before these
        return chain._replace(frames=1, seq=frame.seq, end=frame.end), [frame]
    chain = read_chain(data, position, frame.end, seq)
    if not chain.frames:
        raise BadData(f"the frame at byte {position} cannot be read")
    return chain, chain.others


def read_sections(data: bytes) -> Iterator[Source]:
    """The sections of a compacted file; `BadData` at the first unexpected frame."""
    view = memoryview(data)
    position, seq = 0, -1
    source: Source | None = None
    parts: dict[str, list[Points]] = {}
    while position < len(data):
        frame = decode_at(view, position)
        if frame is None or frame.seq != seq + 1 or (source is None and frame.kind != Kind.HEADER):
            raise BadData(f"the compacted file is damaged at byte {position}")
        position, seq = frame.end, frame.seq
        if frame.kind == Kind.HEADER:
            if source is None:
                source, parts = _new_source(frame), {}
            else:
                _check_repeated(frame, source)
        elif frame.kind == Kind.CHUNK:
            _take_chunk(frame, parts)
        elif frame.kind == Kind.SEAL and source is not None:
            source.series = {name: _joined(points) for name, points in parts.items()}
            yield source
            source = None
        elif source is not None:
            source.others.append((frame.kind, bytes(frame.payload)))
    if source is not None:
        raise BadData("the compacted file ends within a section")


def _new_source(frame: Frame) -> Source:
    try:
        header = _header_decoder.decode(frame.payload)
    except _MALFORMED as fault:
        raise BadData(f"its header cannot be read: {fault}") from fault
    return Source(header, bytes(frame.payload))


def _check_repeated(frame: Frame, source: Source) -> None:
    if bytes(frame.payload) != source.header_frame:
        raise BadData(f"the header at byte {frame.start} differs from the one at the beginning")


def _take_chunk(frame: Frame, parts: dict[str, list[Points]]) -> None:
    chunk = decode_chunk(frame.payload)
    parts.setdefault(chunk.head.name, []).append(Points(chunk.steps, chunk.times, chunk.values, chunk.exact))


def _take(frame: Frame, source: Source, keysets: Keysets) -> None:
    if frame.kind == Kind.HEADER:
        _check_repeated(frame, source)
    elif frame.kind == Kind.DEFINE:
        try:
            number, names = _define_decoder.decode(frame.payload)
        except _MALFORMED as fault:
            raise BadData(f"the definition at byte {frame.start} cannot be read: {fault}") from fault
        keysets.define(number, tuple(names))
    elif frame.kind == Kind.WIDE:
        raise BadData("it contains integers beyond float64, which cannot be stored in columns")
    elif frame.kind in (Kind.BYTES, Kind.ROW):
        raise BadData(f"the frame at byte {frame.start} is not expected here")
    elif frame.kind != Kind.SEAL:
        source.others.append((frame.kind, bytes(frame.payload)))


def _last_heartbeat(others: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    beats = [at for at, (kind, _) in enumerate(others) if kind == Kind.HEARTBEAT]
    dropped = set(beats[:-1])
    return [other for at, other in enumerate(others) if at not in dropped]


def _by_series(all_rows: list[Rows]) -> dict[str, Points]:
    """Columns per name, sorted by sequence number: a series may occur in rows of several keysets."""
    pieces: dict[str, list[tuple[npt.NDArray[np.uint32], Points]]] = {}
    for rows in all_rows:
        for column, name in enumerate(rows.names):
            exact = {row: number for (row, at), number in rows.exact.items() if at == column}
            points = Points(rows.steps, rows.times, np.ascontiguousarray(rows.values[:, column]), exact)
            pieces.setdefault(name, []).append((rows.seqs, points))
    series = {}
    for name, parts in pieces.items():
        seqs = np.concatenate([part[0] for part in parts])
        joined = _joined([part[1] for part in parts])
        if (np.diff(seqs.astype(np.int64)) < 0).any():
            order = np.argsort(seqs, kind="stable")
            place = np.empty(len(order), dtype=np.int64)
            place[order] = np.arange(len(order))
            exact = {int(place[at]): number for at, number in joined.exact.items()}
            joined = Points(joined.steps[order], joined.times[order], joined.values[order], exact)
        series[name] = joined
    return series


def _joined(parts: list[Points]) -> Points:
    exact: dict[int, int] = {}
    start = 0
    for part in parts:
        exact.update({start + at: number for at, number in part.exact.items()})
        start += len(part.values)
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts]),
        exact,
    )
