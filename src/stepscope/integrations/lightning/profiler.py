"""`Trainer(profiler=StepscopeProfiler())`: Lightning's actions as a Stepscope profile, and a window of some steps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from stepscope import fence
from stepscope.integrations.lightning.bases import ProfilerBase
from stepscope.launch.phase_profile import keep_phases
from stepscope.profile.collect.api import Profiler
from stepscope.profile.collect.phases import PHASES, PhaseTable
from stepscope.profile.collect.schedule import schedule as make_schedule
from stepscope.track import session

__all__ = ["StepscopeProfiler"]

_BATCH = "run_training_batch"
_MOST = 25
_FETCH = ".train_dataloader_next"
_SOME_STEPS = make_schedule(wait=0, warmup=1, active=3, repeat=1, skip_first=4)


def _phase_of(action: str) -> str | None:
    """The phase of an action; `[Strategy]SingleDeviceStrategy.training_step` is forward.

    >>> _phase_of("[Strategy]SingleDeviceStrategy.backward"), _phase_of("[Callback]Bar.on_train_batch_end")
    ('backward', None)
    """
    if action.endswith(_FETCH):
        return "data"
    if action.startswith("[Strategy]"):
        ends = {".batch_to_device": "h2d", ".training_step": "forward", ".backward": "backward"}
        return next((phase for end, phase in ends.items() if action.endswith(end)), None)
    return "optimizer" if action.startswith("[LightningModule]") and action.endswith(".optimizer_step") else None


class StepscopeProfiler(ProfilerBase):  # type: ignore[misc]
    """Times every Lightning action, splits each step by phase, and records a window of some steps in depth.

    The window is chosen by `schedule` (`stepscope.profile.schedule(...)`, or torch.profiler's), by default the sixth to
    the eighth step; `schedule=None` records none. In a run the profile is the run's, else it goes to `path`, if given.
    `describe()`, which Lightning calls at the end of a fit, prints the actions by the time they took.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        schedule: Callable[[int], Any] | None = _SOME_STEPS,
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
    ) -> None:
        super().__init__(dirpath=dirpath, filename=filename)
        self._path, self._schedule = path, schedule
        self._reset()

    def _reset(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        """By action: the number of calls, and their total time."""
        self.phases = PhaseTable()
        self.window: Profiler | None = None
        """The deep recording: `print(profiler.window.verdict())`."""
        self._open: list[list[Any]] = []
        """Running actions: name, start, and the seconds of nested actions."""
        self._spent = dict.fromkeys(PHASES, 0.0)
        self._began: float | None = None
        self._steps = 0
        self._spans: list[tuple[str, Any]] = []

    def __getstate__(self) -> dict[str, Any]:
        """For processes that a strategy spawns; each has its own times."""
        kept = {**self.__dict__, "window": None, "_spans": [], "phases": None, "_schedule": None}
        return {**kept, "_output_file": None, "_write_stream": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    # -- actions --------------------------------------------------------------------------------------------------

    def start(self, action_name: str) -> None:
        """Lightning starts an action."""
        fence.call("profiling", self._start, action_name)
        self._open.append([action_name, time.perf_counter(), 0.0])

    def stop(self, action_name: str) -> None:
        """The action has ended."""
        fence.call("profiling", self._stop, action_name, time.perf_counter())

    def _start(self, action: str) -> None:
        if action.endswith(_FETCH):
            self._end_step(time.perf_counter())
        elif action == _BATCH and self.window is None and self._schedule is not None:
            self._begin_window()
        if self.window is not None and self.window._is_on:
            import torch

            span: Any = torch.profiler.record_function(action)
            span.__enter__()
            self._spans.append((action, span))

    def _stop(self, action: str, now: float) -> None:
        if self._spans and self._spans[-1][0] == action:
            self._spans.pop()[1].__exit__(None, None, None)
        while self._open and self._open[-1][0] != action:  # left by an exception
            self._open.pop()
        if not self._open:
            return
        _, began, inner_s = self._open.pop()
        if self._open:
            self._open[-1][2] += now - began
        known = self.seconds.setdefault(action, [0, 0.0])
        known[0] += 1
        known[1] += now - began
        self._divide(action, began, now - began - inner_s)
        if action == _BATCH:
            self._steps += 1
            if self.window is not None:
                fence.call("profiling", self.window.step)

    def _divide(self, action: str, began: float, own_s: float) -> None:
        """Add to the action's phase, without nested actions: forward and backward run inside the optimizer's step."""
        phase = _phase_of(action)
        if phase is not None:
            self._spent[phase] += own_s
            if phase == "data" and self._began is None:
                self._began = began

    def _end_step(self, now: float) -> None:
        """The next batch is requested: the time since the last request is a step."""
        began, self._began = self._began, None
        spent, self._spent = self._spent, dict.fromkeys(PHASES, 0.0)
        if began is None or not self._steps:
            return
        if self.window is not None and self.window._is_on:
            self.phases.leave_out()
            return
        spent["other"] = max(now - began - sum(spent.values()), 0.0)
        self.phases.add(self._steps - 1, spent)

    # -- the window -----------------------------------------------------------------------------------------------

    def _begin_window(self) -> None:
        from stepscope.profile.collect.api import profile

        self.window = profile(self._path, schedule=self._schedule)
        self.window.start()

    # -- the end --------------------------------------------------------------------------------------------------

    def teardown(self, stage: str | None) -> None:
        fence.call("ending the profile", self._conclude, stage)
        super().teardown(stage=stage)

    def _conclude(self, stage: str | None) -> None:
        while self._spans:
            self._spans.pop()[1].__exit__(None, None, None)
        if self.window is not None:
            self.window.stop()
        if stage != "fit":
            return
        self._end_step(time.perf_counter())
        run = session.current()
        if run is not None and run.path is not None and len(self.phases) and not run.is_finished:
            keep_phases(run.path, self.phases, run.rank)
            self.phases = PhaseTable()

    def summary(self) -> str:
        """The actions, longest first."""
        rows = sorted(self.seconds.items(), key=lambda item: -item[1][1])
        if not rows:
            return ""
        width = max(len(name) for name, _ in rows[:_MOST])
        lines = [
            "Stepscope: what Lightning spent its time on",
            f"{'action':<{width}}  {'calls':>7}  {'mean ms':>9}  {'total s':>8}",
        ]
        for name, (count, seconds) in rows[:_MOST]:
            lines.append(f"{name:<{width}}  {count:>7.0f}  {1000 * seconds / count:>9.3f}  {seconds:>8.3f}")
        if len(rows) > _MOST:
            left = sum(seconds for _, (_, seconds) in rows[_MOST:])
            lines.append(f"{len(rows) - _MOST} more actions, {left:.3f} s in all")
        return os.linesep.join(lines)
