"""One setting of a loader, tried inside the running training: real batches, real steps, measured."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from stepscope.profile.data.diversion import fresh
from stepscope.profile.data.settings import LoaderSettings, loader_like


class Trial:
    """Hands out the batches of a loader with these settings, and times the turns of the training loop.

    A turn is from one asking for a batch to the next. The first turns of a pass are not counted as steady: workers
    start and queues fill; what the start of a pass costs is told apart.
    """

    def __init__(
        self, settings: LoaderSettings, loader: Any, *, batches: int, seconds: float, clock: Callable[[], float]
    ) -> None:
        self.settings = settings
        self.label = settings.text()
        self.turns: list[float] = []
        self.waits: list[float] = []
        self.starts: list[float] = []
        """Wait for the first batch of each pass, with the making of its iterator."""
        self.memory_bytes: int | None = None
        self.error = ""
        self._loader = loader
        self._batches = batches
        self._seconds = seconds
        self._clock = clock
        self._made: Any = None
        self._iterator: Any = None
        self._of_pass = 0
        self._last: float | None = None
        self._began = clock()
        self._warm = 2 + settings.workers

    # -- while it runs --------------------------------------------------------------------------------------------

    def next(self, own: Any) -> Any:
        """The next batch; `own` gets every iterator that is ours."""
        asked = self._clock()
        if self._iterator is None:
            self._begin_pass(own)
        try:
            batch = self._iterator._next_data()
        except StopIteration:
            self._begin_pass(own)
            batch = self._iterator._next_data()  # a second StopIteration ends the script's pass: there is no data
        now = self._clock()
        self._count(asked, now - asked)
        return batch

    def _begin_pass(self, own: Any) -> None:
        with (
            warnings.catch_warnings()
        ):  # torch warns of more workers than processors: whether that helps is the question
            warnings.simplefilter("ignore")
            self._begin(own)
        self._of_pass = 0

    def _begin(self, own: Any) -> None:
        if self._made is None:
            self._made = loader_like(self._loader, self.settings)
        if self.settings.persistent and self._iterator is not None:
            self._iterator._reset(self._made)
        else:
            self._iterator = None  # workers of the last pass end before those of the next begin
            self._iterator = self._made._get_iterator()
        own.add(self._iterator)

    def _count(self, asked: float, wait: float) -> None:
        if self._of_pass == 0:
            self.starts.append(wait)
        if self._last is not None and self._of_pass > self._warm:
            self.turns.append(asked - self._last)
        if self._of_pass >= self._warm:
            self.waits.append(wait)
        self._of_pass += 1
        self._last = asked

    @property
    def is_done(self) -> bool:
        """Enough turns over enough time; or the time is over."""
        taken = sum(self.turns)
        if len(self.turns) >= self._batches and taken >= self._seconds / 3:
            return True
        return self._clock() - self._began > self._seconds and len(self.turns) >= 3

    def close(self) -> None:
        """Note what it takes in memory, and end its workers."""
        workers = getattr(self._iterator, "_workers", None)
        if workers:
            self.memory_bytes = _own_memory([worker.pid for worker in workers])
            if self.settings.persistent:
                self._time_another_start()
            self._iterator._shutdown_workers()
        self._iterator = self._made = None

    def _time_another_start(self) -> None:
        """What the next pass costs when workers stay: the first start is not saved, all others are."""
        asked = self._clock()
        self._iterator._reset(self._made)
        self._iterator._next_data()
        self.starts = [self._clock() - asked]

    # -- the result ------------------------------------------------------------------------------------------

    @property
    def steady_s(self) -> float | None:
        """A step, in the middle of a pass."""
        return sum(self.turns) / len(self.turns) if self.turns else None

    @property
    def wait_s(self) -> float:
        return sum(self.waits) / len(self.waits) if self.waits else 0.0

    @property
    def start_s(self) -> float:
        """What the start of a pass costs beyond an ordinary wait."""
        return max(min(self.starts) - self.wait_s, 0.0) if self.starts else 0.0

    def step_s(self, length: int | None) -> float | None:
        """A step, with its share in the start of a pass of this many batches."""
        steady = self.steady_s
        return None if steady is None else steady + (self.start_s / length if length else 0.0)


class FreeTrial(Trial):
    """Batches that are there already: what the training could take."""

    def __init__(
        self, kept: list[Any], loader: Any, *, batches: int, seconds: float, clock: Callable[[], float]
    ) -> None:
        super().__init__(LoaderSettings.of(loader), loader, batches=batches, seconds=seconds, clock=clock)
        self.label = "free data"
        self._kept = kept
        self._warm = 2

    def next(self, own: Any) -> Any:
        asked = self._clock()
        batch = fresh(self._kept[self._of_pass % len(self._kept)])
        self._count(asked, 0.0)
        return batch


def _own_memory(pids: list[int | None]) -> int | None:
    """What these processes have for themselves; pages they share with the training count for nobody."""
    import psutil

    total = 0
    for pid in pids:
        try:
            total += psutil.Process(pid).memory_full_info().uss
        except psutil.Error:
            return None
    return total


def settle() -> None:
    """Where a trial begins and ends, work on a device must be done: else it is counted for the next one."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
