"""Getting entries to disk: directly if possible, otherwise through the backlog.

*Direct*: the caller writes, under the lock. *Queued*: the caller only adds to the backlog, and the background thread
writes; used for network file systems, after a fault until the disk takes writes again, and on a disk that makes
callers wait. A caller that cannot get the lock soon never waits for it: its holder may be stuck in a write, or be the
very frame that a signal handler interrupted.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from stepscope.common import clocks
from stepscope.records import Dropped, End, FileHeader
from stepscope.runs.format import blobs
from stepscope.runs.format.frames import Kind
from stepscope.runs.format.packing import pack
from stepscope.runs.write.backlog import PATIENCE_S, Backlog, Entry, Note, Row
from stepscope.runs.write.fallback_dir import Refuge, in_words
from stepscope.runs.write.home import AwaitedRefuge
from stepscope.runs.write.keyset import SLOW_S, Keyset
from stepscope.runs.write.logfile import LogFile, Stretch

FRAME_BYTES = 1 << 20
"""Larger media are blobs."""
BATCH_BYTES = 256 << 10
HUNG_S = 1.0
"""After one write that takes this long, calls go to the backlog."""
SLOW_WRITES, SLOW_AMONG = 8, 200
"""So they do after eight writes over 5 ms among 200; a single one is often only the scheduler of a busy machine."""
PROBATION_S = 10.0
"""How long a slow disk must be fast again before callers write directly."""
KNOWN_HASHES = 100_000
LAST_TRIES_S = (0.0, 0.05, 0.2)
"""Delays between attempts to write the end of a run."""


class Delivery:
    """One process's path to the disk."""

    def __init__(
        self,
        refuge: Refuge,
        header: FileHeader,
        *,
        always_queued: bool,
        stay_direct: bool,
        tell: Callable[[str, str], None],
    ) -> None:
        self.lock = threading.Lock()
        self.awaited = refuge if isinstance(refuge, AwaitedRefuge) and refuge.is_awaited else None
        """While the folder is unknown: the source to ask for it."""
        self.direct = not always_queued and self.awaited is None
        self.closed = False
        self.backlog = Backlog()
        self.points = LogFile(refuge.path, header, refuge.identity if header.role == "run" else None)
        self.media_log = LogFile(refuge.path, msgspec.structs.replace(header, kind="media"))
        self.unsynced_blobs: list[Path] = []
        self.wake: Callable[[], None] = lambda: None
        """Called when the background thread may have work."""
        self.written = 0
        """Entries written so far, to detect progress."""
        self._refuge = refuge
        self._always_queued = always_queued
        self._stay_direct = stay_direct
        self._tell = tell
        self._messages: deque[tuple[str, str]] = deque()
        self._in_flight: Sequence[Entry] = ()
        self._reported = 0
        self._reason = "the disk was too slow"
        self._stored: dict[bytes, None] = {}
        self._slow: deque[int] = deque(maxlen=SLOW_WRITES)
        self._direct_from = 0.0

    # -- from the caller's thread -----------------------------------------------------------------------------

    def submit(self, entry: Entry) -> None:
        """Write `entry` now if that needs no long wait, else queue it for the thread."""
        if self.closed:
            self.backlog.lost += entry.count
            return
        if self.awaited is not None:
            self.look_for_folder()
        if self.direct:
            lock = self.lock
            if lock.acquire(timeout=PATIENCE_S):
                try:
                    began = clocks.monotonic()
                    if self.direct and self.drain() and self._write([entry]) == 1:
                        self._notice(clocks.monotonic() - began)
                        return
                finally:
                    lock.release()
                    self.speak()
                    self.wake()
            else:
                self.direct = False  # its holder is stuck: no other thread should try
        self.backlog.push(entry)
        if self.direct and self.lock.acquire(
            timeout=PATIENCE_S
        ):  # direct again since the check: no other caller may come
            try:
                self.drain()
            finally:
                self.lock.release()
        self.speak()
        self.wake()

    def look_for_folder(self) -> None:
        """Check whether the run folder is known by now."""
        if self.lock.acquire(timeout=PATIENCE_S):
            try:
                self.settle_in()
            finally:
                self.lock.release()

    def speak(self) -> None:
        """Report pending messages. Not with the lock held: a message may be printed, and so logged."""
        try:
            while self._messages:
                self._tell(*self._messages.popleft())
        except IndexError:
            pass  # another thread reported it

    def _say(self, key: str, message: str) -> None:
        self._messages.append((key, message))

    def row_was_unusual(self, here: Stretch, row: bytearray, done: int, fault: OSError | None, began: float) -> bool:
        """Repair a row that was truncated, failed or slow. False if it must be submitted again."""
        if done < len(row):
            fault = self.points.finish_row(here, row, done, fault)
            if fault is not None:
                self._trouble(fault)
                return False
        self._notice(clocks.monotonic() - began)
        return True

    def _notice(self, took: float) -> None:
        stretch = self.points.stretch
        if took < SLOW_S or self._stay_direct or stretch is None:
            return
        self._slow.append(stretch.seq)
        often = len(self._slow) == SLOW_WRITES and 0 <= stretch.seq - self._slow[0] < SLOW_AMONG
        if took > HUNG_S or often:
            self._slow.clear()
            self.direct = False
            self._direct_from = clocks.monotonic() + PROBATION_S
            stretch.end()
            self.wake()

    # -- with the lock held -----------------------------------------------------------------------------------

    def settle_in(self) -> bool:
        """Whether the run folder is known; until then entries wait in the backlog."""
        awaited = self.awaited
        if awaited is None:
            return True
        try:
            home = awaited.arrive()
        except OSError as fault:
            self._trouble(fault)
            if awaited.is_final:
                self.give_up()
            return False
        if home is None:
            return False
        self.awaited, self.direct = None, not self._always_queued
        for log in (self.points, self.media_log):
            log.settle_in(home)
        self.points.identity = awaited.identity if self.points.role == "run" else None
        return True

    def drain(self) -> bool:
        """Write the backlog; returns whether all of it was written."""
        while self.backlog:
            batch = self.backlog.take(BATCH_BYTES)
            self._in_flight = batch
            done = 0
            try:
                done = self._write(batch)
            finally:
                self.backlog.put_back(batch[done:])
                self._in_flight = ()
            if done < len(batch):
                return False
        return True

    def is_settled(self) -> bool:
        return not self.backlog and not self._in_flight

    def try_direct(self, took: float) -> None:
        """After the backlog was written in `took` seconds: let callers write directly again if the disk is fine."""
        now = clocks.monotonic()
        if took > SLOW_S and not self._stay_direct:
            self._direct_from = max(self._direct_from, now + min(took * 10, PROBATION_S))
        if not self._always_queued and not self.backlog and now >= self._direct_from:
            self.direct = True

    def _write(self, entries: Sequence[Entry]) -> int:
        """Write the entries in one call; returns how many are on disk, in order."""
        stretch = self._ready(self.points, entries[0].at, sum(entry.size for entry in entries))
        if stretch is None:
            return 0
        lost = self.backlog.lost
        pieces = self._loss_note(lost)
        ends: list[int] = []
        keysets: dict[Keyset, None] = {}
        for entry in entries:
            if isinstance(entry, Row):
                if entry.keyset.defined_in is not stretch and entry.keyset not in keysets:
                    pieces.append((Kind.DEFINE, entry.keyset.definition))
                keysets[entry.keyset] = None
                pieces.append((Kind.ROW, entry.keyset.payload(stretch, entry)))
            elif entry.data is not None and not self._store(entry):
                break
            else:
                pieces.append((entry.kind, entry.payload))
            ends.append(len(pieces))
        if not pieces:
            return 0
        written = self.points.append(pieces)
        if written and lost > self._reported:
            self._reported = lost
            self._say("again", f"writing to {self._refuge.path} works again; {lost} values were lost")
        done = sum(end <= written for end in ends)
        self.written += done
        if self.points.failure is not None:
            self._trouble(self.points.failure)
            return done
        for keyset in keysets:
            keyset.settle(stretch, short=self.direct)
        return done

    def _loss_note(self, lost: int) -> list[tuple[int, bytes]]:
        """What to write about values that were lost since the last such note."""
        if lost <= self._reported:
            return []
        note = Dropped(time=clocks.time(), count=lost - self._reported, reason=self._reason)
        return [(Kind.EVENT, pack(note))]

    def _ready(self, log: LogFile, at: float, need: int) -> Stretch | None:
        if not self.settle_in():
            return None
        try:
            try:
                return log.ready(at, need)
            except OSError as fault:
                if fault.errno in (errno.ENOENT, errno.ESTALE, errno.ENOTDIR):
                    self._move(self._refuge.restore(), in_words(fault))
                elif fault.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                    self._move(self._refuge.elsewhere(), in_words(fault))
                else:
                    raise
                return log.ready(at, need)
        except OSError as fault:
            self._trouble(fault)
            return None

    def _store(self, note: Note) -> bool:
        """Write the bytes of a media record before the record that refers to them."""
        data = note.data
        if data is None or note.digest in self._stored:
            return True
        if len(data) > FRAME_BYTES:
            fault = self.store_blob(data)
            if fault is not None:
                self._trouble(fault)
                return False
        else:
            if self._ready(self.media_log, note.at, len(data) + 64) is None:
                return False
            if not self.media_log.append([(Kind.BYTES, note.digest + data)]):
                self._trouble(self.media_log.failure or OSError("no reason given"))
                return False
        if len(self._stored) < KNOWN_HASHES:
            self._stored[note.digest] = None
        return True

    def store_blob(self, data: bytes) -> OSError | None:
        """Write a blob, or return the error. Needs no lock."""
        if self.awaited is not None:
            return OSError(errno.EAGAIN, "the run folder is not known yet")
        try:
            try:
                sha256 = blobs.put_bytes(self._refuge.path, data, sync=False)
            except FileNotFoundError:  # the run folder was deleted
                sha256 = blobs.put_bytes(self._refuge.restore(), data, sync=False)
        except OSError as fault:
            return fault
        self.unsynced_blobs.append(blobs.blob_path(self._refuge.path, sha256))
        return None

    def _trouble(self, fault: OSError) -> None:
        self.direct = False
        self._reason = in_words(fault)
        if self.points.stretch is not None:
            self.points.stretch.end()
        self._say(
            self._reason,
            f"cannot write to {self._refuge.path} for now: {self._reason}. Training continues; up to 32 MiB of "
            "logged data waits in memory and is written when the disk works again; anything beyond is counted as lost.",
        )

    # -- housekeeping, with the lock held ---------------------------------------------------------------------

    def check_folder(self) -> None:
        """If the open files were deleted, restore them with their content."""
        logs = [log for log in (self.points, self.media_log) if log.is_deleted()]
        if not logs:
            return
        try:
            folder = self._refuge.restore()
            for log in logs:
                log.rescue(folder)
        except OSError as fault:
            self._trouble(fault)
            return
        self._move(folder, "the folder was deleted")

    def _move(self, folder: Path, why: str) -> None:
        self._stored.clear()  # what was stored before may be gone
        for log in (self.points, self.media_log):
            log.folder = folder
        self._say(f"moved to {folder}", f"{why}; new data, and what could be saved, is in {folder}")

    def files_to_sync(self) -> list[int]:
        """Files with unsynced bytes, as descriptors for the caller to sync and close."""
        files: list[int] = []
        for log in (self.points, self.media_log):
            while log.retired:
                files.append(log.retired.pop())
            files.extend(os.dup(fd) for fd in log.abandoned)
            stretch, known = log.stretch, log.synced[0]
            if stretch is not None and log.synced != (stretch.fd, stretch.seq):
                log.synced = (stretch.fd, stretch.seq)
                files.append(os.dup(stretch.fd))
                if stretch.fd != known and sys.platform != "win32":  # a new file: its name must be synced too
                    files.append(os.open(log.folder, os.O_RDONLY))
        while self.unsynced_blobs:
            try:
                files.append(os.open(self.unsynced_blobs.pop(), os.O_RDONLY))
            except FileNotFoundError:
                continue
        return files

    def sync_failed(self, fault: OSError) -> None:
        """The disk accepted bytes and then failed to store them: continue in a new file."""
        self.points.leave()
        self.media_log.leave()
        self._trouble(fault)

    def check_age(self) -> None:
        """Make the next row open a new segment, if this one is old enough."""
        for log in (self.points, self.media_log):
            if log.stretch is not None and log.is_due(clocks.monotonic()):
                log.stretch.end()

    def heartbeat(self) -> None:
        if not self.backlog:
            self._write([Note(Kind.HEARTBEAT, struct.pack("<d", clocks.time()), clocks.monotonic())])

    def abandon(self) -> None:
        """Start over with a new lock and new files; a stuck holder may keep the old ones forever."""
        self.lock = threading.Lock()
        self.points.abandon()
        self.media_log.abandon()

    def give_up(self) -> int:
        """Drop what is still waiting; returns the number of values."""
        return self.backlog.give_up()

    @property
    def in_doubt(self) -> int:
        """Number of values that a hanging write may or may not have written."""
        return sum(entry.count for entry in self._in_flight)

    def last_words(self, end: End | None) -> None:
        """Write the end of the log: losses, how it ended, and the seals."""
        entries: list[Entry] = []
        now = clocks.monotonic()
        self.check_folder()
        self.drain()
        left = self.give_up()
        if left:
            self._say("left behind", f"{left} values could not be written to {self._refuge.path}: {self._reason}")
        if end is not None:
            entries.append(Note(Kind.EVENT, pack(end), now, precious=True))
        if entries or self.backlog.lost > self._reported:
            entries = entries or [Note(Kind.HEARTBEAT, struct.pack("<d", clocks.time()), now)]
            for pause in LAST_TRIES_S:  # a temporary error must not make a finished run look killed
                clocks.sleep(pause)
                if self._write(entries) == len(entries):
                    break
        self.points.seal()
        self.media_log.seal()

    def disown(self) -> None:
        """In a forked child: the files belong to the parent."""
        self.points.disown()
        self.media_log.disown()
