"""Read one log file while it is written, and after any kind of damage.

A `LogReader` remembers its position and reads only what is new. No input makes it raise. An incomplete frame at the end
of a file is "not yet" and is tried again; damage in the middle is a hole, reported, and retried for a while, because a
network file system may show zeros first and the data later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from os import PathLike, curdir, fstat
from os.path import dirname
from typing import Any

import msgspec

from stepscope.errors import BadData
from stepscope.files.opening import open_file
from stepscope.records import FORMAT, Console, Event, FileHeader, Media
from stepscope.runs.format.chunks import chunk_head
from stepscope.runs.format.frames import HEADER, Frame, Hole, Kind, decode_at
from stepscope.runs.read.batches import Batch, Keysets
from stepscope.runs.read.bytesource import ByteSource
from stepscope.runs.read.frame_scanner import read_chain
from stepscope.runs.read.rows import SlowRows

_BINARY = {Kind.MEDIA, Kind.BYTES, Kind.CHUNK}
"""Frames whose payload may itself contain frames (a log file that was logged as a file)."""
_KNOWN = {int(kind) for kind in Kind}
_WINDOW = 64 << 10
_WIDEST = 8 << 20
_MANY = 32
_AFTER_CHAIN = 4
"""A chain stops before a header or a definition; the next chain begins after it."""
_RETRIES = 200
"""How often a hole is retried before it is considered permanent."""
_SEARCH_BYTES = 1 << 30
"""How much checksumming one search for the next frame may cost before only small frames are considered."""

_header_decoder = msgspec.msgpack.Decoder(FileHeader)
_define_decoder = msgspec.msgpack.Decoder(tuple[int, list[str]])
_wide_decoder = msgspec.msgpack.Decoder(tuple[float, int | str, dict[str, Any]])
_media_decoder = msgspec.msgpack.Decoder(Media)
_event_decoder: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)
_console_decoder = msgspec.msgpack.Decoder(Console)


def decode_event(payload: bytes) -> Event:
    """Decode the payload of an event frame; raises msgspec's errors."""
    return _event_decoder.decode(payload)


_OF_NOTHING = hashlib.sha256().hexdigest()


class LogReader:
    """Follows one log file.

        reader = LogReader(path)
        for batch in reader.poll():       # what is new since the last call
            print(batch.rows, batch.events, batch.media, batch.console)

    `sections=True` reads a compacted file, which contains several consecutive segments.
    """

    def __init__(
        self, path: str | PathLike[str], *, sections: bool = False, within: str | PathLike[str] | None = None
    ) -> None:
        self.path = path
        self.within = within if within is not None else dirname(path) or curdir
        """The folder that must contain the file: the run's, for a compacted file."""
        self.sections = sections
        self.header: FileHeader | None = None
        self.offset = 0
        self.seq = -1
        self.sealed = False
        self.holes: list[Hole] = []
        self.duplicates = 0
        self.unknown = 0
        """Frames or events of a type that needs a newer version."""
        self.unreadable = 0
        """Valid frames with invalid content."""
        self.missing = 0
        """Frames that are missing according to the sequence numbers."""
        self.unsupported: int | None = None
        """The format number of a file that is too new to read."""
        self.error: OSError | None = None
        self.tail = 0
        """Bytes at the end that are not a frame (yet)."""
        self._keysets = Keysets()
        self._retries = 0

    @property
    def held_rows(self) -> int:
        """Rows waiting for the frame that names their values."""
        return self._keysets.held_rows

    def poll(self, final: bool = False) -> list[Batch]:
        """What is new in the file: one batch, or one per section of a compacted file.

        `final` means that the file has no writer any more, so damage at its end is damage, not "not yet".
        """
        self.error = None
        if self.unsupported is not None:
            return []
        try:
            with open_file(self.path, within=self.within, buffering=0) as file:
                size = fstat(file.fileno()).st_size
                if size <= self.offset and not self.holes:
                    self.tail = 0
                    return []
                return self._read(ByteSource(file, size), final)
        except OSError as fault:  # deleted, unreadable or stale: the caller sees it and may retry
            self.error = fault
            return []

    # -- walking -------------------------------------------------------------------------------------------------

    def _read(self, source: ByteSource, final: bool) -> list[Batch]:
        done: list[Batch] = []
        work = _Work(done)
        if self.holes and self._retries < _RETRIES:
            self._retries += 1
            self._heal(source, work)
        few = _MANY
        while self.offset < source.size and self.unsupported is None:
            if self._one_by_one(source, work, few):
                few = _AFTER_CHAIN if self._chains(source, work) else _MANY
                continue
            few = _MANY
            frame = self._next(source, final)
            if frame is None:
                break
            self._take(frame, work)
            self.offset = frame.end
        self.tail = max(0, source.size - self.offset)
        work.close(self._keysets, self.header)
        return [batch for batch in done if batch]

    def _one_by_one(self, source: ByteSource, work: _Work, few: int) -> bool:
        """Read frames from the loaded bytes; True if there were at least `few`, so that more can be expected.

        Starting a chain costs as much as reading fifty single frames, so it is only done when many are likely.
        """
        source.load(self.offset, min(_WINDOW, source.size - self.offset))
        data = memoryview(source.data)
        position = self.offset - source.base
        work.base = source.base
        count = 0
        while count < few and self.unsupported is None:
            frame = decode_at(data, position)
            if frame is None:
                break
            self._take(frame, work)
            position = frame.end
            count += 1
        self.offset = source.base + position
        work.base = 0
        return count == few

    def _next(self, source: ByteSource, final: bool) -> Frame | None:
        """The frame at the current position, or after the damage there; None to wait."""
        frame = source.frame(self.offset)
        if frame is None:
            frame = self._resync(source, final)
            if frame is not None:
                self.holes.append(Hole(self.offset, frame.start))
                self._retries = 0
        return frame

    def _chains(self, source: ByteSource, work: _Work) -> bool:
        """Read many frames at once while there are many; returns whether there were."""
        window = _WINDOW
        work.flush(self._keysets)
        while self.unsupported is None:
            source.load(self.offset, window)
            start = self.offset - source.base
            stop = min(len(source.data), start + window)
            chain = read_chain(source.data, start, stop, self.seq)
            self._keysets.add(chain.rows)
            self.duplicates += chain.duplicates
            self.missing += max(0, chain.seq - self.seq - (chain.frames - chain.duplicates))
            self.seq = chain.seq
            work.base = source.base
            for frame in chain.others:
                self._content(frame, work)
            work.base = 0
            self.offset = source.base + chain.end
            if chain.frames < _MANY or source.base + stop >= source.size:
                return chain.frames >= _MANY
            window = min(_WIDEST, window * 4)
        return False

    def _take(self, frame: Frame, work: _Work) -> None:
        """Read a single frame."""
        if frame.seq <= self.seq:
            self.duplicates += 1
            return
        self.missing += frame.seq - self.seq - 1
        self.seq = frame.seq
        self._content(frame, work)

    def _content(self, frame: Frame, work: _Work) -> None:
        if frame.kind not in _KNOWN:
            self.unknown += 1
            return
        if frame.kind == Kind.ROW:
            if not work.slow.add(frame.seq, frame.payload):
                self.unreadable += 1
            return
        try:
            _TAKE.get(Kind(frame.kind), _nothing)(self, frame, work)
        except msgspec.ValidationError:
            self.unknown += frame.kind == Kind.EVENT
            self.unreadable += frame.kind != Kind.EVENT
        except (msgspec.DecodeError, BadData, ValueError, TypeError, OverflowError, RecursionError):
            self.unreadable += 1

    # -- damage ------------------------------------------------------------------------------------------------

    def _resync(self, source: ByteSource, final: bool) -> Frame | None:
        """The next credible frame after damage at the current position, or None to wait."""
        claimed = source.claim(self.offset)
        torn = False
        if claimed is not None:
            kind, _seq, end = claimed
            follower = source.frame(end)
            if follower is not None and follower.seq == self.seq + 2:
                return follower
            torn = end > source.size and (kind in _BINARY or kind not in _KNOWN)
            if torn and not final:
                return None
        budget = _SEARCH_BYTES
        for position in source.candidates(self.offset + 1):
            claim = source.claim(position)
            if claim is None or (budget < 0 and claim[2] - position > _WINDOW):
                continue
            budget -= claim[2] - position if claim[2] <= source.size else 0
            frame = source.frame(position)
            if frame is None:
                continue
            if torn:
                # Inside a half-written image or file, accept only the very next frame: what looks like
                # frames there may be a log that was itself logged.
                return frame if frame.seq == self.seq + 2 else None
            return frame
        return None

    def _heal(self, source: ByteSource, work: _Work) -> None:
        """Retry the holes: what is readable now was only late."""
        still: list[Hole] = []
        for hole in self.holes:
            position = hole.start
            while position < hole.end:
                frame = source.frame(position)
                if frame is None or frame.end > hole.end:
                    break
                self.missing -= 1
                self._content(frame, work)
                position = frame.end
            if position < hole.end:
                still.append(Hole(position, hole.end))
        self.holes = still

    # -- kinds of frames ---------------------------------------------------------------------------------------

    def _take_header(self, frame: Frame, work: _Work) -> None:
        header = _header_decoder.decode(frame.payload)
        if header.format > FORMAT:
            self.unsupported = header.format
            return
        if self.header is None:
            self.header = header
        elif _identity(header) != _identity(self.header):
            if not self.sections:
                self.unreadable += 1
                return
            self._end_section(work)
            self.header = header

    def _end_section(self, work: _Work) -> None:
        """The following data belongs to another segment, identified by its header at its beginning or end."""
        work.close(self._keysets, self.header)
        self.header = None
        self._keysets = Keysets()

    def _take_define(self, frame: Frame, work: _Work) -> None:
        work.flush(self._keysets)
        keyset, names = _define_decoder.decode(frame.payload)
        self._keysets.define(keyset, tuple(names))

    def _take_wide(self, frame: Frame, work: _Work) -> None:
        time, step, values = _wide_decoder.decode(frame.payload)
        self._keysets.add_wide(frame.seq, time, int(step), values)

    def _take_media(self, frame: Frame, work: _Work) -> None:
        work.batch.media.append((frame.seq, _media_decoder.decode(frame.payload)))

    def _take_bytes(self, frame: Frame, work: _Work) -> None:
        if len(frame.payload) < 32:
            raise ValueError("no hash before the bytes")
        digest = bytes(frame.payload[:32]).hex()
        if len(frame.payload) == 32 and digest != _OF_NOTHING:
            return  # the bytes were removed later (`retention/carry_out.py`)
        work.batch.blobs[digest] = (work.base + frame.start + HEADER.size + 32, len(frame.payload) - 32)

    def _take_event(self, frame: Frame, work: _Work) -> None:
        work.batch.events.append((frame.seq, _event_decoder.decode(frame.payload)))

    def _take_console(self, frame: Frame, work: _Work) -> None:
        work.batch.console.append((frame.seq, _console_decoder.decode(frame.payload)))

    def _take_heartbeat(self, frame: Frame, work: _Work) -> None:
        time = memoryview(frame.payload).cast("d")[0] if len(frame.payload) == 8 else None
        if time is None:
            raise ValueError("a heartbeat is eight bytes")
        work.batch.heartbeat = max(work.batch.heartbeat or time, time)

    def _take_seal(self, frame: Frame, work: _Work) -> None:
        self.sealed = work.batch.sealed = True
        if self.sections:
            self._end_section(work)

    def _take_chunk(self, frame: Frame, work: _Work) -> None:
        head = chunk_head(frame.payload)
        header = self.header
        if header is not None and (head.attempt, head.rank, head.role) != (header.attempt, header.rank, header.role):
            raise BadData("the chunk is of another segment: the end of this one and the next header are lost")
        work.batch.chunks.append((head, bytes(frame.payload)))


class _Work:
    """What one poll has collected so far."""

    def __init__(self, done: list[Batch]) -> None:
        self.done = done
        self.batch = Batch()
        self.slow = SlowRows()
        self.base = 0
        """Added to a frame's position to get its file position."""

    def flush(self, keysets: Keysets) -> None:
        keysets.add(self.slow.take())

    def close(self, keysets: Keysets, header: FileHeader | None) -> None:
        """Finish the batch of the section that ends here."""
        self.flush(keysets)
        self.batch.header = header
        if header is not None:
            self.batch.rows = keysets.take(header.base_time)
        else:
            keysets.hold()
        self.done.append(self.batch)
        self.batch = Batch()


def _identity(header: FileHeader) -> tuple[str, str, int]:
    return header.file_id, header.kind, header.segment


def _nothing(reader: LogReader, frame: Frame, work: _Work) -> None:
    """Ignore a kind that needs no processing."""


_TAKE: dict[Kind, Callable[[LogReader, Frame, _Work], None]] = {
    Kind.HEADER: LogReader._take_header,
    Kind.DEFINE: LogReader._take_define,
    Kind.MEDIA: LogReader._take_media,
    Kind.BYTES: LogReader._take_bytes,
    Kind.EVENT: LogReader._take_event,
    Kind.HEARTBEAT: LogReader._take_heartbeat,
    Kind.SEAL: LogReader._take_seal,
    Kind.CONSOLE: LogReader._take_console,
    Kind.CHUNK: LogReader._take_chunk,
    Kind.WIDE: LogReader._take_wide,
}
