"""One short look of a sampler at a running training: which of the user's lines take its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.common import clocks
from stepscope.launch.part import Ended
from stepscope.launch.parts.watch import Companion
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stepscope.evidence.hot_lines import HotLines
    from stepscope.record.observers import Watcher

__all__ = ["SampledLines", "Sampling"]

AFTER_STEPS, AFTER_S = 20, 10.0
"""Before that the observers look closely, and a sample would be of them; of slow steps they are a small part."""
FOR_S, LEAST_STEPS = 2.0, 3


class Sampling:
    """A sampler between two moments, and what it saw as evidence."""

    def __init__(self, steps: int) -> None:
        from stepscope.profile.python.sampler import Sampler

        self.first_step = steps
        self._sampler = Sampler()
        self._began, self._worked = clocks.perf_counter(), clocks.process_time()
        self._sampler.start()

    @property
    def seconds(self) -> float:
        return clocks.perf_counter() - self._began

    def stop(self) -> None:
        self._sampler.stop()

    def fill(self, table: HotLines, steps: int) -> None:
        from stepscope.evidence.hot_lines import HotLine
        from stepscope.profile.python.hot_lines import hot_spots
        from stepscope.record.sites import place_at

        self.stop()
        table.seconds, table.steps = round(self.seconds, 3), steps - self.first_step
        table.load = round((clocks.process_time() - self._worked) / max(1e-9, self.seconds), 3)
        table.all = [
            HotLine(place_at(one.code, one.at), round(one.share, 3), one.phase, one.below)
            for one in hot_spots(self._sampler.samples)[:20]
        ]


class SampledLines(Companion):
    """From one step to a later one; afterward nothing is left of it."""

    ending = "sampling the lines of a training"

    def __init__(self, around: Around) -> None:
        self._around = around
        self._table: HotLines | None = None
        self._sampling: Sampling | None = None
        self._first_s: float | None = None

    def watcher_made(self, watcher: Watcher) -> None:
        if not self._around.options.check:
            self._table = watcher.hot_lines
            self._around.loop.on_step.append(self._stepped)

    def _stepped(self, optimizer: Optimizer) -> None:
        if self._table is not None:
            fence.call(self.ending, self._turn)

    def _turn(self) -> None:
        now, steps, sampling = clocks.perf_counter(), self._around.loop.steps, self._sampling
        if self._first_s is None:
            self._first_s = now
        if sampling is None:
            if steps >= AFTER_STEPS or (steps >= LEAST_STEPS and now - self._first_s >= AFTER_S):
                self._sampling = Sampling(steps)
        elif sampling.seconds >= FOR_S and steps - sampling.first_step >= LEAST_STEPS:
            self._fill(sampling)

    def _fill(self, sampling: Sampling) -> None:
        table, self._table = self._table, None
        self._around.loop.no_longer_on_step(self._stepped)
        if table is not None:
            sampling.fill(table, self._around.loop.steps)

    def end(self, ended: Ended) -> None:
        sampling = self._sampling
        if sampling is None:
            return
        sampling.stop()
        if self._around.loop.steps - sampling.first_step >= LEAST_STEPS and ended.crash is None:
            self._fill(sampling)
