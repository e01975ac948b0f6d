"""Python's own time in a profiled script: sampled between the windows, or every call counted on request."""

from __future__ import annotations

from typing import Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.profile.store import write_part

CALLS_S, CALLS_STEPS, FEWEST_STEPS = 5.0, 30, 3


class PythonTimes:
    """A sampler that is on while no other part of Stepscope is; and cProfile for some steps, if `calls`."""

    def __init__(self, *, sample: bool, calls: bool) -> None:
        self.calls_done = not calls
        self.calls_steps: list[int] = []
        self._sample = sample
        self._sampler: Any = None
        self._profiler: Any = None
        self._began = 0.0

    # -- while it runs --------------------------------------------------------------------------------------------

    @property
    def counts_calls(self) -> bool:
        return self._profiler is not None and self._profiler.is_on

    def sampling(self, wanted: bool) -> None:
        """Sample from now on, or do not."""
        if self._sampler is None:
            if not (wanted and self._sample):
                return
            from stepscope.profile.python.sampler import Sampler

            self._sampler = Sampler()
        if wanted and self._sample:
            self._sampler.start()
        else:
            self._sampler.stop()

    def forget(self) -> None:
        """What was sampled so far was not what is meant."""
        if self._sampler is not None:
            self._sampler.stop()
            self._sampler = None

    @property
    def has_samples(self) -> bool:
        return self._sampler is not None and bool(self._sampler.samples.time_ns)

    def begin_calls(self, step: int) -> None:
        """Count every call from this step on."""
        from stepscope.profile.python.cprofile import CProfiler

        self.sampling(False)
        self._profiler = CProfiler()
        self._began = clocks.perf_counter()
        self.calls_steps = [step]
        self._profiler.start()

    def calls_step(self, step: int, last: int | None) -> None:
        """A step begins while calls are counted: are there enough?"""
        done = step - self.calls_steps[0]
        passed = clocks.perf_counter() - self._began
        enough = done >= FEWEST_STEPS and (done >= CALLS_STEPS or passed >= CALLS_S)
        if (last is not None and step >= last) or (last is None and enough):
            self.end_calls()
        else:
            self.calls_steps.append(step)

    def end_calls(self) -> None:
        if self.counts_calls:
            self._profiler.stop()
            self.calls_done = True

    def stop(self) -> None:
        fence.fenced("ending cProfile")(self.end_calls)()
        if self._sampler is not None:
            fence.fenced("ending the sampler")(self._sampler.stop)()

    # -- what is kept ---------------------------------------------------------------------------------------------

    def lines(self) -> list[dict[str, Any]]:
        """The user's own lines by their part of the time, for the advice."""
        if not self.has_samples:
            return []
        from stepscope.profile.python.hot_lines import hot_spots

        return [
            {"file": one.file, "line": one.line, "in": one.function, "share": round(one.share, 4),
             "phase": one.phase, "below": one.below}
            for one in hot_spots(self._sampler.samples)[:20]
        ]  # fmt: skip

    def keep(self, folder: Any, rank: int) -> None:
        """`rank0.prof` where calls were counted, `rank0.stacks` where stacks were sampled."""
        if self._profiler is not None:
            from stepscope.profile.python.prof_file import write_prof

            write_prof(self._profiler.result(), folder / f"rank{rank}.prof")
        if self._sampler is not None:
            write_part(folder, f"rank{rank}.stacks", self._sampler.result())
