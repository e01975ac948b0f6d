"""Projections are made behind the page: started once, told of while they go on, kept when they are done.

A job nobody has asked about for a while stops by itself, so closing the page ends the work.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stepscope import fence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

T = TypeVar("T")

__all__ = ["Job", "Projections"]

MOST_KEPT = 24
MOST_AT_ONCE = 2
MOST_READ = 2
FORGOTTEN_S = 20.0


@dataclass
class Job:
    """One projection, finished or not. Read by the page's requests while its own thread writes."""

    places: Floats | None = None
    part: float = 0.0
    done: bool = False
    error: str | None = None
    note: str = ""
    asked: float = field(default_factory=time.monotonic)

    def report(self, part: float, places: Floats) -> bool:
        """Take a first picture; False when nobody looks any more."""
        self.places, self.part = places.copy(), part
        return time.monotonic() - self.asked < FORGOTTEN_S


Work = Callable[[Job], "Floats"]


class Projections:
    """The newest results and the jobs that go on. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._read: OrderedDict[Hashable, Any] = OrderedDict()
        self._places = threading.Semaphore(MOST_AT_ONCE)

    def read(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, kept for the next few questions: a page asks again and again while a job goes on."""
        with self._lock:
            if key in self._read:
                self._read.move_to_end(key)
                kept: T = self._read[key]
                return kept
        made = make()
        with self._lock:
            self._read[key] = made
            while len(self._read) > MOST_READ:
                self._read.popitem(last=False)
        return made

    def job(self, key: Hashable, work: Work, *, short: bool = False) -> Job:
        """The job under this key, started now if it was not there or was given up. A `short` one waits for no other."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.error == _GIVEN_UP:
                job = self._jobs[key] = Job()
                queue = nullcontext() if short else self._places
                args = (job, work, queue)
                threading.Thread(target=self._run, args=args, name="stepscope-projection", daemon=True).start()
            self._jobs.move_to_end(key)
            self._forget_oldest()
        job.asked = time.monotonic()
        return job

    def _forget_oldest(self) -> None:
        for key in [key for key, job in self._jobs.items() if job.done][: max(0, len(self._jobs) - MOST_KEPT)]:
            del self._jobs[key]

    def _run(self, job: Job, work: Work, queue: AbstractContextManager[object]) -> None:
        with queue:
            fence.call("a projection", _tried, job, work)  # whatever another package raises: no page waits for ever
        if job.part < 1 and job.error is None:
            job.error = "the projection failed; the server's output says why"
        job.done = True


def _tried(job: Job, work: Work) -> None:
    try:
        places = work(job)
    except (ValueError, TypeError, ArithmeticError, MemoryError, ImportError, RuntimeError) as error:
        job.error = f"the projection failed: {str(error) or type(error).__name__}"
        return
    if time.monotonic() - job.asked >= FORGOTTEN_S and job.part < 1:
        job.error = _GIVEN_UP
    else:
        job.places, job.part = places, 1.0


_GIVEN_UP = "nobody was looking"
