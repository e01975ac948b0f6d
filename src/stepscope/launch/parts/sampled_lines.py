"""One short look of a sampler at a running training: which of the user's lines take its time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.common import clocks
from stepscope.launch.part import Ended
from stepscope.launch.parts.watch import Companion
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from types import CodeType

    from torch.optim import Optimizer

    from stepscope.evidence.hot_lines import HotLines
    from stepscope.profile.python.samples import Samples
    from stepscope.record.observers import Watcher

__all__ = ["SampledLines", "Sampling"]

AFTER_STEPS, AFTER_S = 20, 10.0
"""Before that the observers look closely, and a sample would be of them; of slow steps they are a small part."""
FOR_S, LEAST_STEPS = 2.0, 3
PART_S, OF_PARTS = 0.2, 0.75


@dataclass
class _Part:
    """What had been seen when a step ended."""

    steps: int
    seconds: float
    worked_s: float
    time_ns: dict[tuple[int, ...], int]


class Sampling:
    """A sampler between two steps, and what it saw as evidence.

    The time is cut into parts, at ends of steps. A line that slows every step down is in most of them; an evaluation or
    a figure now and then is in one or two, and work after the last step is in none.
    """

    def __init__(self, steps: int) -> None:
        from stepscope.profile.python.sampler import Sampler

        self._sampler = Sampler()
        self._began, self._worked = clocks.perf_counter(), clocks.process_time()
        self._parts = [_Part(steps, 0.0, 0.0, {})]
        self._sampler.start()

    @property
    def seconds(self) -> float:
        return clocks.perf_counter() - self._began

    @property
    def steps(self) -> int:
        """How many it has seen to their ends."""
        return self._parts[-1].steps - self._parts[0].steps

    def stepped(self, steps: int) -> None:
        seconds = self.seconds
        if seconds - self._parts[-1].seconds >= PART_S:
            worked = clocks.process_time() - self._worked
            self._parts.append(_Part(steps, seconds, worked, dict(self._sampler.samples.time_ns)))

    def stop(self) -> None:
        self._sampler.stop()

    def fill(self, table: HotLines) -> None:
        from stepscope.evidence.hot_lines import HotLine
        from stepscope.profile.python.hot_lines import hot_spots
        from stepscope.record.sites import place_at

        self.stop()
        last = self._parts[-1]
        table.seconds, table.steps = round(last.seconds, 3), self.steps
        table.load = round(last.worked_s / max(1e-9, last.seconds), 3)
        seen = replace(self._sampler.samples, time_ns=last.time_ns)
        parts = [_shares(replace(seen, time_ns=part)) for part in self._between()]
        table.all = [
            HotLine(place_at(one.code, one.at), round(one.share, 3), one.phase, one.below)
            for one in hot_spots(seen)[:20]
            if _is_spread((one.code, one.line), one.share, parts)
        ]

    def _between(self) -> Iterator[dict[tuple[int, ...], int]]:
        """The time of each stack within each part; a busy machine may not let the sampler look at a short one."""
        for one, later in pairwise(self._parts):
            grown = {key: spent - one.time_ns.get(key, 0) for key, spent in later.time_ns.items()}
            if any(grown.values()):
                yield {key: spent for key, spent in grown.items() if spent}


def _shares(samples: Samples) -> dict[tuple[CodeType, int], float]:
    from stepscope.profile.python.hot_lines import hot_spots

    return {(one.code, one.line): one.share for one in hot_spots(samples)}


def _is_spread(line: tuple[CodeType, int], share: float, parts: list[dict[tuple[CodeType, int], float]]) -> bool:
    """Whether it takes a good part of its share in most parts."""
    return sum(part.get(line, 0.0) * 3 >= share for part in parts) >= OF_PARTS * len(parts)


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
            return
        sampling.stepped(steps)
        if sampling.seconds >= FOR_S and sampling.steps >= LEAST_STEPS:
            self._fill(sampling)

    def _fill(self, sampling: Sampling) -> None:
        table, self._table = self._table, None
        self._around.loop.no_longer_on_step(self._stepped)
        if table is not None:
            sampling.fill(table)

    def end(self, ended: Ended) -> None:
        sampling = self._sampling
        if sampling is None:
            return
        sampling.stop()
        if sampling.steps >= LEAST_STEPS and ended.crash is None:
            self._fill(sampling)
