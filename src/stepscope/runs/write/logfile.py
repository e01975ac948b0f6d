"""One process's log of one kind: frames are appended to the current segment, which is rolled when due.

A `LogFile` is independent of threads and queues: its caller holds the writer's lock. It avoids leaving a partial frame
behind: after a short write it tries to write the rest, and if that fails it truncates the file to its last whole frame.
If even that fails, the segment is abandoned and the next one begins; readers skip the tear.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from stepscope.common import clocks
from stepscope.records import FileHeader
from stepscope.runs.format import frames
from stepscope.runs.format.filesystem import create_file
from stepscope.runs.format.layout import log_name
from stepscope.runs.format.packing import pack
from stepscope.runs.write.home import Home

SEGMENT_BYTES = 16 << 20
STRETCH_BYTES = 4 << 20
FIRST_STRETCH_BYTES = 8 << 10
"""The first stretch is short, so that losing the first page does not cost a killed run everything."""
REPEATED_BYTES = 64 << 10
"""Maximum bytes of definitions repeated before a seal."""
SEGMENT_S = 300.0
SMALL_BYTES = 64 << 10
"""A smaller segment does not end by age: an idle run must not become thousands of tiny files."""
OLDEST_S = 4 * 86400.0
"""Beyond this, a row's 32-bit ticks would soon overflow: the segment ends whatever its size."""
DRIFT_S = 2.0
"""If the wall clock is this far ahead, the machine slept or its clock was set: start a new segment."""
INTERRUPTED = -2
"""`Stretch.left` after an interrupt (Ctrl-C) in the middle of a write: it is unknown whether the frame was written, so
its sequence number can neither be reused nor skipped. The segment ends there, without a seal."""
_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.EINTR, errno.ENOMEM, errno.ENOBUFS)


class Stretch:
    """Up to 4 MiB of a segment in which each keyset is defined once. `left < 0` sends every row down the slow path.

    Each begins with the file's header, so that losing a frame, even the first, does not affect the others.
    """

    __slots__ = ("fd", "left", "seq", "start")

    def __init__(self, fd: int, seq: int, left: int, start: float) -> None:
        self.fd = fd
        self.seq = seq
        self.left = left
        self.start = start
        """Monotonic seconds of the segment's `base_time`."""

    def end(self) -> None:
        """Send all rows down the slow path."""
        self.left = min(self.left, -1)


def write_all(fd: int, data: bytes | bytearray | memoryview, done: int = 0) -> tuple[int, OSError | None]:
    """Write the rest of `data` after `done` bytes; returns how far it got, and the error if any."""
    view = memoryview(data)
    while done < len(view):
        try:
            count = os.write(fd, view[done:])
        except OSError as fault:
            return done, fault
        if count == 0:
            return done, OSError(errno.EIO, "the disk accepted no bytes and gave no reason")
        done += count
    return done, None


class LogFile:
    def __init__(self, folder: Path, header: FileHeader, identity: bytes | None = None) -> None:
        """`header` describes the writer; segment, base time and file id are filled in for each file.

        `identity` is the run's `meta.json`: each file begins with it, so that damage to one of them costs nothing.
        """
        self.folder = folder
        self.stretch: Stretch | None = None
        self.failure: OSError | None = None
        self.retired: list[int] = []
        """Finished files, to be synced and closed by a thread that may wait for the disk."""
        self.abandoned: list[int] = []
        """Files that a hanging write may still use: synced, never closed."""
        self.path: Path | None = None
        self.synced = (-1, -1)
        """File and sequence number up to which a sync was requested."""
        self._header = header
        self.identity = identity
        self._segment = 0
        self._opened = 0.0
        self._base = (0.0, 0.0)  # wall and monotonic time of the newest segment
        self._introduced: Stretch | None = None  # the newest that has a header
        self._definitions: dict[bytes, None] = {}  # of this segment, to be repeated

    @property
    def role(self) -> str:
        return self._header.role

    def settle_in(self, home: Home) -> None:
        """Set the folder, run and attempt, before anything is written."""
        self.folder = home.path
        self._header = msgspec.structs.replace(self._header, run_id=home.run_id, attempt=home.attempt)

    # -- making room ------------------------------------------------------------------------------------------

    def ready(self, at: float, need: int) -> Stretch:
        """A stretch with room for `need` bytes of frames from monotonic time `at`; OSError if there is none."""
        stretch = self.stretch
        if stretch is not None and stretch.left == INTERRUPTED:
            self.leave()
            stretch = None
        if stretch is not None and self.is_due(at):
            self.seal()
            stretch = None
        if stretch is None:
            return self._open(at)
        if stretch.left < need and stretch.seq > 0:
            stretch.end()
            self.stretch = stretch = Stretch(stretch.fd, stretch.seq, self._room(stretch.fd), stretch.start)
        return stretch

    def is_due(self, now: float) -> bool:
        """Whether the next frame belongs in a new segment."""
        stretch = self.stretch
        if stretch is None or stretch.seq == 0:
            return False
        age = now - stretch.start
        if age > OLDEST_S or self._drift() > DRIFT_S:
            return True
        oldest_s = SEGMENT_S * 2 ** min(self._segment, 10)  # a month is a dozen files, not nine thousand
        if stretch.left > 0 and age < oldest_s:
            return False
        try:
            size = os.fstat(stretch.fd).st_size
        except OSError:
            return True
        return size >= SEGMENT_BYTES or (age >= oldest_s and size >= SMALL_BYTES)

    def _drift(self) -> float:
        wall, start = self._base
        return (clocks.time() - wall) - (clocks.monotonic() - start)

    def _room(self, fd: int) -> int:
        return min(STRETCH_BYTES, max(SEGMENT_BYTES - os.fstat(fd).st_size, 0))

    def _open(self, at: float) -> Stretch:
        header = self._header
        self.path = self.folder / log_name(
            header.host, header.rank, header.pid, header.boot_id, header.file_id, header.kind, self._segment
        )
        fd = create_file(self.path)
        now = clocks.monotonic()
        start = min(at, now)
        base = clocks.time() - (now - start)
        if self._segment:  # a clock that was set back must not reverse the order of our own points
            last_wall, last_start = self._base
            base = max(base, last_wall + (start - last_start))
        self._base = (base, start)
        self.stretch = Stretch(fd, 0, min(FIRST_STRETCH_BYTES, STRETCH_BYTES), start)
        self._definitions = {}
        return self.stretch

    def _header_frame(self) -> bytes:
        header = self._header
        return pack(
            msgspec.structs.replace(
                header,
                file_id=f"{header.file_id}.{header.kind}.{self._segment}",
                segment=self._segment,
                base_time=self._base[0],
            )
        )

    # -- writing ----------------------------------------------------------------------------------------------

    def append(self, pieces: Sequence[tuple[int, bytes]]) -> int:
        """Write the frames in one call; returns how many are complete on disk. If not all, `failure` has the reason."""
        stretch = self.stretch
        assert stretch is not None, "ready() comes first"
        pieces = list(pieces)
        first = 0
        if stretch is not self._introduced:
            opening: list[tuple[int, bytes]] = [(frames.Kind.HEADER, self._header_frame())]
            if stretch.seq == 0 and self.identity is not None:
                opening.append((frames.Kind.META, self.identity))
            pieces[:0] = opening
            first = len(opening)
        encoded = [frames.encode(kind, stretch.seq + n, payload) for n, (kind, payload) in enumerate(pieces)]
        data = b"".join(encoded) if len(encoded) > 1 else encoded[0]
        left, stretch.left = stretch.left, INTERRUPTED
        done, self.failure = write_all(stretch.fd, data)
        stretch.left = left - len(data)
        if self.failure is None:
            stretch.seq += len(pieces)
            self._introduced = stretch
            self._remember(pieces)
            return len(pieces) - first
        whole, end = 0, 0
        while end + len(encoded[whole]) <= done:
            end += len(encoded[whole])
            whole += 1
        stretch.seq += whole
        self._after_failure(stretch, torn=done - end)
        return max(whole - first, 0)

    def _remember(self, pieces: Sequence[tuple[int, bytes]]) -> None:
        for kind, payload in pieces:
            if kind == frames.Kind.DEFINE:
                self._definitions[payload] = None

    def finish_row(self, stretch: Stretch, row: bytearray, done: int, fault: OSError | None) -> OSError | None:
        """Complete a row of which `done` bytes were written, or truncate it and return the error."""
        if fault is None:
            done, fault = write_all(stretch.fd, row, done)
        self.failure = fault
        if fault is not None:
            stretch.seq -= 1
            self._after_failure(stretch, torn=done)
        return fault

    def _after_failure(self, stretch: Stretch, torn: int) -> None:
        stretch.end()
        cut = torn == 0
        if torn:
            try:
                os.ftruncate(stretch.fd, os.fstat(stretch.fd).st_size - torn)
                cut = True
            except OSError:
                pass  # the tear stays; the next segment begins
        if stretch is self.stretch and (not cut or self.failure is None or self.failure.errno not in _SPACE):
            self.leave()

    def leave(self) -> None:
        """Abandon this segment without a seal; the next frame opens a new one. An empty file is deleted."""
        stretch = self.stretch
        if stretch is None:
            return
        stretch.end()
        self.stretch = None
        self.retired.append(stretch.fd)
        if stretch.seq == 0 and self.path is not None:
            try:
                os.unlink(self.path)
            except OSError:
                self._segment += 1  # the name is taken
        else:
            self._segment += 1

    def seal(self) -> None:
        """End the segment. The writer's identity and the row names are repeated once more."""
        if self.stretch is not None and self.stretch.seq > 0 and self.stretch.left != INTERRUPTED:
            again = list(self._definitions) if sum(map(len, self._definitions)) <= REPEATED_BYTES else []
            self._introduced = None
            self.append([*((frames.Kind.DEFINE, one) for one in again), (frames.Kind.SEAL, b"")])
        self.leave()

    def abandon(self) -> None:
        """Leave the segment to a thread that may still be stuck in a write to it: its file is not closed."""
        if self.stretch is not None:
            self.stretch.end()
            self.abandoned.append(self.stretch.fd)
            self.stretch = None
            self._segment += 1

    def disown(self) -> None:
        """In a forked child: leave the parent's files alone, and make sure no write can still reach them.

        Their descriptors are redirected to the null device rather than closed: a closed descriptor would soon be
        reused for another file, and the fork may have come in the middle of a write.
        """
        numbers = [*self.retired, *self.abandoned, *([self.stretch.fd] if self.stretch is not None else [])]
        if numbers:
            null = os.open(os.devnull, os.O_WRONLY)
            for fd in numbers:
                os.dup2(null, fd, inheritable=False)
            os.close(null)

    # -- when the folder is gone --------------------------------------------------------------------------------

    def is_deleted(self) -> bool:
        """Whether the open file was deleted, so that further writes would be lost."""
        if self.stretch is None:
            return False
        try:
            return os.fstat(self.stretch.fd).st_nlink == 0
        except OSError:
            return True

    def rescue(self, folder: Path) -> None:
        """Copy the deleted but open file to `folder` under its old name, and continue there."""
        old = self.stretch
        self.folder = folder
        if old is None or self.path is None:
            return
        path = folder / self.path.name
        fd = create_file(path)
        offset = 0
        while chunk := os.pread(old.fd, 1 << 20, offset):
            _, fault = write_all(fd, chunk)
            if fault is not None:
                os.close(fd)
                path.unlink(missing_ok=True)
                raise fault
            offset += len(chunk)
        old.end()
        self.retired.append(old.fd)
        self.path = path
        self.stretch = Stretch(fd, old.seq, self._room(fd), old.start)
