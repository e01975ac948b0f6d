"""Background jobs for projections: started once, polled while running, cached when done.

A job that has not been polled for a while stops, so closing the page ends the work.
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

MOST_KEPT = 24
MOST_AT_ONCE = 2
MOST_READ = 2
FORGOTTEN_S = 20.0


@dataclass
class Job:
    """One projection, running or done. Requests read it while its own thread writes."""

    places: Floats | None = None
    part: float = 0.0
    done: bool = False
    error: str | None = None
    note: str = ""
    asked: float = field(default_factory=time.monotonic)

    def report(self, part: float, places: Floats) -> bool:
        """Store an intermediate result; False if no page is polling any more."""
        self.places, self.part = places.copy(), part
        return time.monotonic() - self.asked < FORGOTTEN_S


Work = Callable[[Job], "Floats"]


class Projections:
    """The newest results and the running jobs. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._read: OrderedDict[Hashable, Any] = OrderedDict()
        self._places = threading.Semaphore(MOST_AT_ONCE)

    def read(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, cached for the next few requests: a page polls while a job runs."""
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
        """The job with this key, started now if it is new or was abandoned. A `short` one does not wait for others."""
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
            fence.call("a projection", _tried, job, work)  # whatever another package raises: no page may wait forever
        if job.part < 1 and job.error is None:
            job.error = "the projection failed; see the server's output"
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


_GIVEN_UP = "the page was closed"
