"""Deep windows: begins, marks, ends and saves them as the training comes by, one at a time.

    probe -> warm-up -> recorded steps -> saved, and read by a child

A probe step tells what a step costs to record; a warm-up step lets the tracing of the device start. Everything happens
between two steps. The callers are behind the fence; what a fault leaves half done is dropped.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from stepscope import fence
from stepscope.common import clocks
from stepscope.profile.collect.budget import Asked, Budget, CallCounter, Chosen, Probe, choose, free_bytes
from stepscope.profile.collect.child import Reading
from stepscope.profile.collect.phase_events import PhaseEvents
from stepscope.profile.collect.torch_window import TorchWindow, WindowOptions, someone_profiles
from stepscope.profile.show import cell_text
from stepscope.profile.store import new_folder, write_meta, write_part
from stepscope.records.profile import ProfileMeta

State = Literal["idle", "probe", "warm", "recording"]


@dataclass(frozen=True)
class Request:
    """A window that is wanted."""

    why: str
    """steps 20:25 were asked for"""
    first: int | None = None
    """Its first step; None: as soon as may be."""
    steps: int | None = None
    """How many; None: as the budget allows."""


@dataclass
class Saved:
    """A window that is on the disk."""

    folder: Path
    meta: ProfileMeta
    reading: Reading | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What only the live profile knew, for the facts file."""


class Windows:
    """Told of each step that begins and ends; records those that are wanted."""

    def __init__(
        self,
        torch: ModuleType,
        asked: Asked,
        *,
        place: Callable[[], Path | None],
        rank: int = 0,
        world: int = 1,
        host: str = "",
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.saved: list[Saved] = []
        self.notes: list[str] = []
        """What a reader of every window must know."""
        self.phases: PhaseEvents | None = None
        """While a window records: where the stretches of phases go."""
        self.may_begin: Callable[[], bool] = lambda: True
        """Asked before a window begins: something else may be running that must not be in it."""
        self.before_recording: list[Callable[[], None]] = []
        self.after_recording: list[Callable[[], None]] = []
        self.usual_s: Callable[[], float | None] = lambda: None
        """How long a step takes that nobody looks at."""
        self.look_at: Callable[[TorchWindow], dict[str, Any]] = lambda window: {}
        """Asked after a window has stopped, before its memory is given back."""
        self._torch = torch
        self._asked = asked
        self._place = place
        self._rank, self._world, self._host = rank, world, host
        self._say = say
        self._state: State = "idle"
        self._request: Request | None = None
        self._waiting: list[Request] = []
        self._window: TorchWindow | None = None
        self._chosen: Chosen | None = None
        self._counter = CallCounter()
        self._counted = False
        self._began = 0.0

    # -- asking ---------------------------------------------------------------------------------------------------

    def ask(self, request: Request) -> None:
        """Have this window recorded when its time comes."""
        self._waiting.append(request)

    @property
    def is_busy(self) -> bool:
        """A window is prepared or records: steps are slower than they are."""
        return self._state != "idle"

    @property
    def is_recording(self) -> bool:
        return self._state == "recording"

    @property
    def wants_more(self) -> bool:
        return bool(self._waiting) or self.is_busy

    # -- steps ----------------------------------------------------------------------------------------------------

    def begins(self, step: int) -> None:
        """A step begins."""
        if not fence.call("a window", self._begins, step):
            self._give_up()

    def _give_up(self) -> None:
        """After a fault in Stepscope: no window, and no step that is left out because of it."""
        self._state, window, self._window, self.phases = "idle", self._window, None, None
        self._request = None
        self._counter.stop()
        if window is not None:
            fence.fenced("ending a window")(window.stop)()
            window.drop()
        for listener in self.after_recording:
            fence.fenced("after a window")(listener)()

    def _begins(self, step: int) -> bool:
        if self._state == "recording" and self._window is not None:
            self._window.mark(step)
            if self.phases is not None:
                self.phases.step = step
        elif self._state == "warm":
            self._record(step)
        elif self._state == "probe":
            self._end_probe()
            self._prepare(step)
        elif self._waiting:
            self._consider(step)
        return True

    def ends(self, step: int) -> None:
        """A step is over."""
        if self._state == "recording" and self._window is not None:
            self._window.mark(None)
            if len(self._window.steps) >= self._wanted_steps:
                self.finish()

    def pauses(self, step: int) -> None:
        """Something else than a step follows. It is not recorded, unless steps after it were asked for by number."""
        if not self.is_recording or self._window is None or self._request is None:
            return
        self._window.cancel()
        if self._request.first is None:
            self.finish()

    def _consider(self, step: int) -> None:
        request = self._waiting[0]
        first = request.first
        if first is not None and step > first and not self._is_late(request, step):
            return
        is_too_early = first is not None and step < first - 2
        if is_too_early or not self.may_begin() or someone_profiles(self._torch):
            return
        self._request = self._waiting.pop(0)
        may_probe = first is None or step == first - 2
        if self._chosen is None and may_probe:
            self._begin_probe()
            return
        self._chosen = self._chosen or choose(self._asked, None, self._budget)
        if first is not None and step >= first:
            self._record(step)
        else:
            self._prepare(step)

    def _is_late(self, request: Request, step: int) -> bool:
        """Its first step has gone by (numbers may jump): what is left of it is recorded, if anything is."""
        if request.steps is not None and request.first is not None and step >= request.first + request.steps:
            self._waiting.remove(request)
            self._say(
                f"the steps {request.first} to {request.first + request.steps - 1} were over before recording began"
            )
            return False
        return True

    @property
    def _budget(self) -> Budget:
        return Budget(self._asked.max_events, fence.fenced("asking for free memory")(free_bytes)())

    @property
    def _wanted_steps(self) -> int:
        request, chosen = self._request, self._chosen
        if request is not None and request.steps is not None:
            return request.steps
        return 1 if chosen is None else chosen.steps

    # -- one window -----------------------------------------------------------------------------------------------

    def _begin_probe(self) -> None:
        self._state = "probe"
        self._window = TorchWindow(
            self._torch, WindowOptions(record_shapes=False, profile_memory=False, with_stack=False, with_modules=False)
        )
        self._window.start()
        self._counted = self._asked.with_stack is True and self._counter.start()
        self._began = clocks.perf_counter()

    def _end_probe(self) -> None:
        window, self._window = self._window, None
        wall_s = clocks.perf_counter() - self._began
        self._counter.stop()
        if window is None:
            return
        window.stop()
        probe = Probe(window.events, self._counter.calls if self._counted else None, wall_s)
        window.drop()
        self._chosen = choose(self._asked, probe, self._budget)

    def _prepare(self, step: int) -> None:
        assert self._chosen is not None
        self._state = "warm"
        self._window = TorchWindow(self._torch, self._chosen.options)
        self._window.prepare()
        if self._request is not None and self._request.first is not None and step >= self._request.first:
            self._record(step)

    def _record(self, step: int) -> None:
        assert self._chosen is not None
        for listener in self.before_recording:
            fence.fenced("before a window")(listener)()
        window = self._window = self._window or TorchWindow(self._torch, self._chosen.options)
        self.phases = PhaseEvents()
        self.phases.step = step
        self._state = "recording"
        window.start()
        window.mark(step)

    def finish(self) -> None:
        """End the current window: a window with steps in it is saved, even if more were wanted."""
        state, self._state = self._state, "idle"
        window, self._window = self._window, None
        phases, self.phases = self.phases, None
        request, self._request = self._request, None
        self._counter.stop()
        if window is None:
            return
        window.stop()
        if state == "recording":
            for listener in self.after_recording:
                fence.fenced("after a window")(listener)()
        if state == "recording" and window.steps and request is not None:
            fence.fenced("saving a window")(self._save)(window, phases, request)
        window.drop()

    def _save(self, window: TorchWindow, phases: PhaseEvents | None, request: Request) -> None:
        run = self._place()
        if run is None:
            return
        steps = window.steps
        folder = new_folder(run, f"step-{steps[0]:06d}", self._rank)
        facts = fence.fenced("naming what was recorded", default={})(self.look_at)(window)
        window.save(folder / f"rank{self._rank}.trace.json")
        if window.snapshot is not None:
            write_part(folder, f"rank{self._rank}.memory", window.snapshot)
        if phases is not None:
            phases.save(folder / f"rank{self._rank}.phase.events")
        if facts:
            write_part(folder, f"rank{self._rank}.facts.json", facts)
        meta = self._described(folder.name, window, request)
        write_meta(folder, meta, self._rank)
        saved = Saved(folder, meta, facts=facts)
        self.saved.append(saved)
        saved.reading = fence.fenced("reading a trace in a child")(Reading)(folder, self._rank)

    def _described(self, id: str, window: TorchWindow, request: Request) -> ProfileMeta:
        chosen = self._chosen
        return ProfileMeta(
            id=id,
            kind="pytorch",
            created=clocks.time(),
            first_step=window.steps[0],
            last_step=window.steps[-1],
            why=request.why,
            options={**window.options.to_dict(), "max_events": self._asked.max_events, "pid": os.getpid()},
            host=self._host,
            world=self._world,
            overhead=f"stopping took {window.stop_s:.2f} s, writing the trace {window.save_s:.2f} s",
            notes=[*self.notes, *([] if chosen is None else chosen.said), *_inflated(window.walls_s, self.usual_s())],
        )

    def abandon(self, why: str) -> None:
        """Somebody else wants the profiler: what there is, is kept."""
        if self.is_busy:
            self._say(why)
            self.finish()


def _inflated(walls_s: list[float], usual_s: float | None) -> list[str]:
    """How much the recording itself has slowed the steps down, where that is more than noise."""
    if not walls_s or not usual_s or (factor := statistics.median(walls_s) / usual_s) < 1.15:
        return []
    took, usual = (cell_text(round(1e9 * seconds), "ns") for seconds in (statistics.median(walls_s), usual_s))
    slower = f"steps in the window took {factor:.1f}x as long ({took} instead of {usual})"
    return [f"{slower}: host times are inflated, device times are not"]
