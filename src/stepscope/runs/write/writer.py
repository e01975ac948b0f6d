"""The write side of a run folder: rows, events and media from a training process, whatever the disk does.

On a local disk a call writes before it returns, so that logged data survives `kill -9`. On a network file system, and
on any disk while it is slow or failing, calls append to a bounded backlog that a background thread writes. Disk errors
never raise into the caller; docs/design/003-the-writer.md has the details.
"""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from stepscope.common import clocks
from stepscope.errors import UsageError
from stepscope.fence import fenced
from stepscope.records import Console, End, Event, FileHeader, Media
from stepscope.runs.format import blobs, writer_identity
from stepscope.runs.format.filesystem import is_remote
from stepscope.runs.format.frames import Kind
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.packing import clean_text, pack
from stepscope.runs.write.background import Background
from stepscope.runs.write.backlog import PATIENCE_S, Note
from stepscope.runs.write.fallback_dir import Refuge
from stepscope.runs.write.forks import watch_forks
from stepscope.runs.write.home import AwaitedRefuge, Seek
from stepscope.runs.write.keyset import Keyset
from stepscope.runs.write.write_queue import FRAME_BYTES, Delivery

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Keyset", "RunWriter"]

Role = Literal["run", "worker", "system", "edit", "node"]
Mode = Literal["auto", "direct", "queued"]

INLINE_BYTES = 2 << 10
MOST_NAMES = 1_000_000
ELSEWHERE_BEAT_S = 60.0
"""Heartbeat interval of an imported run: other tools flush rarely."""
NO_PROGRESS_S = 2.0
"""`flush` and `close` give up when the disk has accepted nothing for this long."""
LAST_WORDS_S = 10.0
"""Maximum time for the end of a run on an unresponsive disk."""


class RunWriter:
    """Writes one process's part of a run.

    writer = RunWriter(path, run_id=meta.id)
    row = writer.keyset(("loss", "acc"))
    row.write(0, (0.7, 0.1))
    writer.close(End(time=clocks.time(), status="finished"))
    """

    def __init__(
        self,
        path: Path,
        *,
        run_id: str,
        rank: int = 0,
        role: Role = "run",
        attempt: int = 0,
        first_step: int | None = None,
        heartbeat_s: float = 10.0,
        fsync_s: float = 2.0,
        mode: Mode = "auto",
        on_problem: Callable[[str], None] | None = None,
        elsewhere: str | None = None,
        seek: Seek | None = None,
    ) -> None:
        """With `heartbeat_s` and `fsync_s` both 0 no thread is started until there is a backlog.

        `elsewhere` names a writer other than the training (an import): files get that name instead of this machine's
        and no process, so that the end of this process does not affect the run's status. With `seek` another process
        creates the folder: data waits in memory until its location is known.
        """
        self._refuge = Refuge(Path(path)) if seek is None else AwaitedRefuge(Path(path), seek)
        self._header = FileHeader(
            run_id=run_id,
            file_id="",
            role=role,
            host=elsewhere or writer_identity.host_name(),
            rank=rank,
            pid=0,
            boot_id="" if elsewhere else writer_identity.boot_id(),
            attempt=attempt,
            base_time=0.0,
            first_step=first_step,
            heartbeat_s=heartbeat_s if elsewhere is None else ELSEWHERE_BEAT_S,
        )
        self._beat_s = heartbeat_s
        self._has_process = elsewhere is None
        self._mode = "queued" if mode == "auto" and is_remote(Path(path)) else mode
        self._fsync_s = fsync_s
        self._on_problem = fenced("telling of a problem")(on_problem) if on_problem is not None else None
        self._told: set[str] = set()
        self._keysets: dict[tuple[str, ...], Keyset] = {}
        self._start(role)
        watch_forks(self)
        if heartbeat_s:
            self.beat()

    def _start(self, role: Role) -> None:
        """Everything that belongs to one process; a forked child calls it again."""
        pid = os.getpid() if self._has_process else 0
        started = writer_identity.process_started(pid) if self._has_process else 0.0
        header = msgspec.structs.replace(self._header, role=role, pid=pid, pid_started=started, file_id=new_run_id())
        home = self._refuge.home if isinstance(self._refuge, AwaitedRefuge) else None
        if home is not None:
            header = msgspec.structs.replace(header, run_id=home.run_id, attempt=home.attempt)
        self._delivery = Delivery(
            self._refuge,
            header,
            always_queued=self._mode == "queued",
            stay_direct=self._mode == "direct",
            tell=self._tell,
        )
        self._background = Background(self._delivery, self._beat_s, self._fsync_s)

    def become_child(self) -> None:
        """After a fork: become a worker with its own files. The parent's files, lock and backlog stay untouched."""
        closed = self._delivery.closed
        self._delivery.disown()
        self._start("worker")
        self._delivery.closed = closed
        for keyset in self._keysets.values():
            keyset.start_over(self._delivery)

    def _tell(self, key: str, message: str) -> None:
        if key not in self._told:
            self._told.add(key)
            if self._on_problem is not None:
                self._on_problem(message)

    @property
    def path(self) -> Path:
        """The run folder; a different one if the first became unwritable."""
        return self._refuge.path

    @property
    def dropped(self) -> int:
        """Number of values (points and media) this process has dropped so far."""
        return self._delivery.backlog.lost

    @property
    def is_direct(self) -> bool:
        """Whether data is written when a call returns; otherwise a thread writes it shortly after."""
        return self._delivery.direct

    # -- what a training calls ------------------------------------------------------------------------------------

    def keyset(self, names: tuple[str, ...]) -> Keyset:
        """The rows with these names, in this order; the same names give the same keyset."""
        known = self._keysets.get(names)
        if known is None:
            if len(names) > MOST_NAMES:
                raise UsageError(f"a row of {len(names)} values is too long; log at most {MOST_NAMES} at once")
            known = self._keysets.setdefault(names, Keyset(self._delivery, len(self._keysets), names))
        return known

    def wide(self, step: int, values: Mapping[str, Any], at: float | None = None, unix: float | None = None) -> None:
        """A row of values that do not fit a float64, as msgpack [unix time, step, {name: value}].

        The time is now, the monotonic time `at`, or exactly `unix`.
        """
        if unix is None:
            now = clocks.monotonic()
            unix = clocks.time() - (now - (now if at is None else at))
        self._note(Kind.WIDE, pack([unix, step, dict(values)]), count=len(values))

    def columns(self, name: str, steps: npt.ArrayLike, times: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Write many points of one series, each with its own unix time, in the given order."""
        from stepscope.runs.write.columns import chunks_of  # numpy: needed only here

        for count, payload in chunks_of(self._header, clean_text(name), steps, times, values):
            self._note(Kind.CHUNK, payload, count=count)

    def beat(self) -> None:
        """Write a heartbeat. A thread does so automatically, unless the writer has none."""
        self._note(Kind.HEARTBEAT, struct.pack("<d", clocks.time()))

    def event(self, event: Event) -> None:
        """Write an event; while the disk is full, events wait in a separate space."""
        self._note(Kind.EVENT, pack(event), precious=True)

    def console(self, piece: Console) -> None:
        """Write a piece of the script's output."""
        self._note(Kind.CONSOLE, pack(piece), count=1)

    def media(self, media: Media, data: bytes | None = None) -> None:
        """Write a media record and its bytes: inline, in the media file, or as a blob, depending on size."""
        if data is None or len(data) <= INLINE_BYTES:
            if data is not None:
                media = msgspec.structs.replace(media, data=data, size=len(data))
            self._note(Kind.MEDIA, pack(media), count=1)
            return
        digest = hashlib.sha256(data)
        media = msgspec.structs.replace(media, data=None, sha256=digest.hexdigest(), size=len(data))
        if len(data) > FRAME_BYTES and self._delivery.store_blob(data) is None:
            self._note(Kind.MEDIA, pack(media), count=1)
            return
        self._note(Kind.MEDIA, pack(media), count=1, data=data, digest=digest.digest())

    def _note(self, kind: Kind, payload: bytes, **more: Any) -> None:
        self._delivery.submit(Note(kind, payload, clocks.monotonic(), **more))

    def blob_file(self, source: Path, *, within: Path | None = None) -> tuple[str, int]:
        """Store a copy of a file as a blob; returns hash and size. Waits for the disk and raises its errors."""
        if self._delivery.awaited is not None:
            self.decide()
            self._delivery.look_for_folder()
        return blobs.put_file(self.path, Path(source), within=within)

    def decide(self) -> None:
        """The process may end soon: if the folder is unknown, choose one now."""
        if isinstance(self._refuge, AwaitedRefuge):
            self._refuge.is_final = True

    def flush(self, fsync: bool = True, timeout: float = 30.0) -> bool:
        """Write and sync everything; False if that failed."""
        return self._settle(timeout) and (not fsync or self._background.sync())

    def close(self, end: End | None = None, timeout: float = 30.0) -> None:
        """Write the rest, the end, and a seal. Safe in a signal handler, even one that interrupted a write."""
        delivery = self._delivery
        if delivery.closed:
            return
        delivery.closed = True
        self.decide()
        try:
            self._settle(timeout)
        finally:  # also after a second Ctrl-C
            self._finish(end)

    def _finish(self, end: End | None) -> None:
        self._background.stop()
        if not self._background.is_stuck():
            self._last_words(end)
            return
        # Its thread is blocked by the disk in a write or sync: the next call might block too.
        ended = threading.Event()
        if not _within(LAST_WORDS_S, lambda: self._last_words(end, ended)) and not ended.is_set():
            self._tell_stuck()

    def _tell_stuck(self) -> None:
        lost, doubt = self._delivery.give_up(), self._delivery.in_doubt
        more = f", and {doubt} more may not have been" if doubt else ""
        self._tell("stuck", f"{self.path} does not answer; {lost} values were not written{more}")

    def _last_words(self, end: End | None, ended: threading.Event | None = None) -> None:
        delivery = self._delivery
        if not delivery.lock.acquire(timeout=PATIENCE_S):
            if self._background.is_stuck():
                self._tell_stuck()
                if ended is not None:
                    ended.set()
                return
            delivery.abandon()
            delivery.lock.acquire()
        try:
            delivery.last_words(end)
        finally:
            delivery.lock.release()
            delivery.speak()
        if ended is not None:
            ended.set()
        self._background.sync()
        for keyset in self._keysets.values():
            keyset.start_over(delivery)

    def _settle(self, timeout: float) -> bool:
        """Wait until the backlog is written, as long as the disk makes progress."""
        delivery = self._delivery
        deadline = clocks.monotonic() + timeout
        seen, seen_at = delivery.written, clocks.monotonic()
        while not delivery.is_settled():
            now = clocks.monotonic()
            if delivery.written != seen:
                seen, seen_at = delivery.written, now
            if now > deadline or now - seen_at > NO_PROGRESS_S:
                return False
            has_thread = self._background.hurry()
            if delivery.lock.acquire(timeout=PATIENCE_S):
                try:
                    if not has_thread:
                        delivery.drain()
                finally:
                    delivery.lock.release()
                    delivery.speak()
            elif not self._background.is_writing:  # held by a frame that we interrupted, or by a hanging write
                delivery.abandon()
            clocks.sleep(0.005)
        return True


def _within(seconds: float, work: Callable[[], None]) -> bool:
    """Do the work in a separate thread; returns whether it finished in time."""
    thread = threading.Thread(target=work, name="stepscope-last-words", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the interpreter is shutting down: no thread available
        work()
        return True
    thread.join(seconds)
    return not thread.is_alive()
