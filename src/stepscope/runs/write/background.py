"""The writer's only thread: drains the backlog, writes heartbeats, syncs, and ends old segments.

It is a daemon and waits on a queue written in C, so that waking it is safe in a signal handler and it ends
quietly with the interpreter.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

from stepscope.common import clocks
from stepscope.events.fork_pause import PAUSE_S, pause_at_forks
from stepscope.fence import fenced
from stepscope.runs.format.filesystem import sync_data
from stepscope.runs.write.write_queue import Delivery

T = TypeVar("T")

POLL_S = 0.05
"""How often the backlog is checked while callers add to it: the maximum delay of a queued row on a working disk."""
HURRY_BYTES = 1 << 20
"""Backlog size at which the thread is woken early."""
LONGEST_PAUSE_S = 5.0
STUCK_S = 3.0
"""A lock held this long is held by a hanging write: leave it and its files to that thread."""
NEVER = float("inf")


class Background:
    def __init__(self, delivery: Delivery, heartbeat_s: float, fsync_s: float) -> None:
        self._delivery = delivery
        self._heartbeat_s = heartbeat_s or NEVER
        self._fsync_s = fsync_s or NEVER
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._leave = threading.Event()
        """Of the current thread."""
        self._stopping = False
        now = clocks.monotonic()
        self._next_beat = now + self._heartbeat_s
        self._next_sync = now + self._fsync_s
        self._retry_at = 0.0
        self._pause = POLL_S
        self._stuck_since: float | None = None
        self._napping = False
        self.is_writing = False
        """Whether the thread holds the lock to write the backlog."""
        delivery.wake = self.wake
        pause_at_forks(self)

    def wake(self) -> None:
        """Start the thread if it has work to do."""
        if self._thread is None and not self._stopping:
            if not self._delivery.backlog and self._heartbeat_s == self._fsync_s == NEVER:
                return
            self._start()
        elif self._delivery.backlog and self._bell.empty():
            well = self._retry_at == 0.0
            if self._napping or (well and self._delivery.backlog.bytes > HURRY_BYTES):
                self._bell.put(None)

    def _start(self) -> None:
        leave = self._leave = threading.Event()
        thread = threading.Thread(target=self._run, args=(leave,), name="stepscope-writer", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread available, or the interpreter is shutting down: close() does the work
            return
        self._thread = thread

    def pause(self) -> None:
        """Stop the thread for a fork."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            self._leave.set()
            self._bell.put(None)
            thread.join(timeout=PAUSE_S)

    def resume(self) -> None:
        if self._leave.is_set() and not self._stopping:
            self._start()

    def hurry(self) -> bool:
        """Retry the backlog at once; returns whether a thread exists to do so."""
        self._retry_at = 0.0
        self._bell.put(None)
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        self._stopping = True
        self._bell.put(None)
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(timeout=2.0)

    def is_stuck(self) -> bool:
        """Whether the thread was asked to stop but is blocked by the disk."""
        return self._stopping and self._thread is not None and self._thread.is_alive()

    def _run(self, leave: threading.Event) -> None:
        turn = fenced("the background writer")(self._turn)
        while not self._stopping and not leave.is_set():
            delay = self._delay()
            self._napping = delay > POLL_S
            try:
                self._bell.get(timeout=delay)
            except Empty:
                pass
            self._napping = False
            if not self._stopping and not leave.is_set():
                turn()

    def _delay(self) -> float:
        delivery, now = self._delivery, clocks.monotonic()
        until = min(self._next_beat, self._next_sync)
        if delivery.backlog or not delivery.direct:
            until = min(until, max(now + POLL_S, self._retry_at))
        return min(max(until - now, 0.001), 60.0)

    def _turn(self) -> None:
        now = clocks.monotonic()
        delivery = self._delivery
        if (delivery.backlog or not delivery.direct) and now >= self._retry_at:
            self._write_out()
        if now >= self._next_beat:
            self._next_beat = now + self._heartbeat_s
            self._locked_do(delivery.heartbeat)
        if now >= self._next_sync:
            self._next_sync = now + self._fsync_s
            self._locked_do(delivery.check_folder)
            self._locked_do(delivery.check_age)
            self.sync()

    def _write_out(self) -> None:
        delivery = self._delivery
        lock = delivery.lock
        if not lock.acquire(timeout=1.0):
            self._stuck_since = self._stuck_since or clocks.monotonic()
            if clocks.monotonic() - self._stuck_since > STUCK_S:
                self._stuck_since = None
                delivery.abandon()
            return
        self._stuck_since = None
        self.is_writing = True
        try:
            began = clocks.monotonic()
            if delivery.drain():
                self._pause = POLL_S
                self._retry_at = 0.0
                delivery.try_direct(clocks.monotonic() - began)
            else:
                longest_s = LONGEST_PAUSE_S if delivery.awaited is None else POLL_S
                self._pause = min(self._pause * 2, longest_s)
                self._retry_at = clocks.monotonic() + self._pause
        finally:
            self.is_writing = False
            lock.release()
            delivery.speak()

    def _locked_do(self, action: Callable[[], T]) -> T | None:
        lock = self._delivery.lock
        if not lock.acquire(timeout=1.0):
            return None
        try:
            return action()
        finally:
            lock.release()
            self._delivery.speak()

    def sync(self) -> bool:
        """Sync everything written so far; False if the disk refused."""
        try:
            files = self._locked_do(self._delivery.files_to_sync)
        except OSError:
            return False
        well = files is not None
        for fd in files or ():
            try:
                sync_data(fd)
            except OSError as fault:
                well = False
                self._locked_do(partial(self._delivery.sync_failed, fault))
            try:
                os.close(fd)
            except OSError:  # a network file system may report only now that it could not store the bytes
                well = False
        return well
