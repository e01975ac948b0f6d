"""The two threads beside a training: a periodic one, and one for long work."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable
from typing import Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.events.fork_pause import PAUSE_S, pause_at_forks


class Ticker:
    """Calls each job periodically on one daemon thread; a slow job delays the next but calls never pile up."""

    THREAD = "stepscope-ticker"

    def __init__(self) -> None:
        self._jobs: list[list[Any]] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_paused = False
        pause_at_forks(self)

    def every(self, seconds: float, job: Callable[[], None], name: str, first_s: float | None = None) -> None:
        """Add a job; it first runs after `first_s`, or a little later if the thread is already sleeping."""
        due = clocks.monotonic() + (seconds if first_s is None else first_s)
        self._jobs.append([due, seconds, fence.fenced(name)(job)])

    def once(self, after_s: float, job: Callable[[], None], name: str) -> None:
        """Add a job that runs once."""
        self.every(math.inf, job, name, first_s=after_s)

    def start(self) -> None:
        """Start the thread, unless there is nothing to do or it is running."""
        if self._jobs and self._thread is None:
            self._start()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, args=(self._stop,), name=self.THREAD, daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Stop the thread for a fork."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread() and not self._stop.is_set():
            self._is_paused = True
            self._stop.set()
            thread.join(timeout=PAUSE_S)

    def resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._stop = threading.Event()
            self._start()

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self._pause_s()):
            now = clocks.monotonic()
            for entry in list(self._jobs):
                if entry[0] <= now:
                    entry[2]()
                    entry[0] = clocks.monotonic() + entry[1]

    def _pause_s(self) -> float:
        due: float = min(due for due, _seconds, _job in self._jobs) - clocks.monotonic()
        return min(max(0.01, due), threading.TIMEOUT_MAX)

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=5.0)


class Worker:
    """Processes work in order on one thread, which starts with the first item.

    When the queue is full, the caller does the next item: nothing is lost, and memory stays bounded.
    """

    THREAD = "stepscope-worker"

    def __init__(self, name: str, max_waiting: int = 64) -> None:
        self._name = name
        self._waiting: queue.Queue[Callable[[], None] | None] = queue.Queue(max_waiting)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def do(self, work: Callable[[], None]) -> None:
        guarded: Callable[[], None] = fence.fenced(self._name)(work)
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name=self.THREAD, daemon=True)
                self._thread.start()
        if self._closed:
            guarded()
            return
        try:
            self._waiting.put_nowait(guarded)
        except queue.Full:
            guarded()

    def _run(self) -> None:
        while True:
            work = self._waiting.get()
            if work is None:
                return
            work()
            self._waiting.task_done()

    def flush(self, timeout_s: float = 60.0) -> bool:
        """Wait for all queued work; False if it took too long."""
        if self._thread is None:
            return True
        reached = threading.Event()
        try:
            self._waiting.put(reached.set, timeout=timeout_s)
        except queue.Full:
            return False
        return reached.wait(timeout_s)

    def close(self, timeout_s: float = 60.0) -> bool:
        done = self.flush(timeout_s)
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None and done:
            self._waiting.put(None)
            thread.join(timeout=5.0)
        return done
