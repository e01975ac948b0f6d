"""Deep windows of a launched script: who asks for them, when they may begin, and what is kept of them."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from stepscope import events, fence
from stepscope.common import clocks
from stepscope.launch.loop import Loop
from stepscope.launch.options import Profiling
from stepscope.profile.collect.child import Reading
from stepscope.profile.collect.others import TheirProfiler
from stepscope.profile.collect.schedule import StepRange, is_settled
from stepscope.profile.collect.triggers import Anomaly, RequestFile, Signal, signal_named
from stepscope.profile.collect.window_facts import look_at
from stepscope.profile.collect.windows import Request, Saved, Windows
from stepscope.profile.store import new_folder, write_meta
from stepscope.records.profile import ProfileMeta

READ_WITHIN_S, OTHERS_WITHIN_S = 300.0, 5.0
THEIRS = "own"
"""The id of a profile that the script took itself."""
RANKS_STEPS = StepRange(20, 23)
"""Ranks must record the same steps without asking each other: numbers they all know."""


class Deep:
    """Stands between the loop and the windows. `auto`: one window is wanted as soon as the training has settled."""

    def __init__(
        self,
        loop: Loop,
        options: Profiling,
        *,
        run: Callable[[], Path | None],
        rank: int,
        world: int,
        say: Callable[[str], None],
        auto: bool = False,
    ) -> None:
        self.windows: Windows | None = None
        self.theirs = TheirProfiler(self._make_way)
        self.is_disturbed: Callable[[], bool] = lambda: False
        """Asked at the beginning of each step: does another part of Stepscope slow it down?"""
        self.on_asked: list[Callable[[str], None]] = []
        """Told why the user wanted a window, when it is recorded or could not begin: what they do is not in it."""
        self._asked = ""
        self._loop, self._options, self._run = loop, options, run
        self._rank, self._world, self._say = rank, world, say
        self._auto = self._always = auto
        self._began: float | None = None
        self._compiling: events.Subscription | None = None
        """From the start on: code that is compiled before a window would be traced with the window's doors in it."""
        self.is_kept_out = False
        """Steps are made where torch's profiler cannot begin or end."""
        self._signal = Signal(signal_named(options.signal)) if "signal" in options.on else None
        self._anomaly = Anomaly() if "anomaly" in options.on else None
        self._file = RequestFile(run, rank) if "button" in options.on else None

    def start(self, torch: ModuleType) -> None:
        """The script has imported torch."""
        from stepscope.runs.format.writer_identity import host_name

        self.windows = Windows(
            torch,
            self._options.asked,
            place=self._run,
            rank=self._rank,
            world=self._world,
            host=host_name(),
            say=self._say,
        )
        self.windows.look_at = look_at
        self.windows.usual_s = self._usual_s
        self.windows.may_begin = lambda: not (self.is_disturbed() or self.theirs.is_going)
        self.theirs.install(torch)
        self._compiling = events.subscribe("keeping windows out of compiled code", compiled=lambda frame: None)
        if self._signal is not None:
            self._signal.install()
        steps = self._options.steps
        if steps is not None:
            why = f"steps {steps.first} to {steps.last - 1}, as requested"
            self.windows.ask(Request(why, steps.first, steps.last - steps.first))
        elif self._auto and self._world > 1:
            why = f"the steps {RANKS_STEPS.first} to {RANKS_STEPS.last - 1}, on every rank"
            self.windows.ask(Request(why, RANKS_STEPS.first, RANKS_STEPS.last - RANKS_STEPS.first))
        self.windows.before_recording.append(lambda: self._loop.on_phase.append(self._phase))
        self.windows.after_recording.append(self._no_phases)
        self._backwards: Any = events.source_of("backward_begins")
        self._loop.iterations.on_gap.append(self.windows.pauses)
        self._follow(every_step=True)

    @property
    def saved(self) -> list[Saved]:
        return [] if self.windows is None else self.windows.saved

    # -- while it runs --------------------------------------------------------------------------------------------

    def _follow(self, *, every_step: bool) -> None:
        """Every step while a window is wanted or records; otherwise look now and then whether somebody asks for one."""
        turns = self._loop.iterations
        if every_step == (self._begins in turns.on_begin):
            return
        if every_step:
            turns.on_look = [one for one in turns.on_look if one != self._begins]
            turns.on_begin.append(self._begins)
            turns.on_end.append(self._ends)
        else:
            turns.on_begin = [one for one in turns.on_begin if one != self._begins]
            turns.on_end = [one for one in turns.on_end if one != self._ends]
            turns.on_look.append(self._begins)

    @property
    def _has_work(self) -> bool:
        if self.windows is None or self.windows.wants_more or self._auto or self._asked:
            return True
        if self._always or self._anomaly is not None or self._signal is not None:
            return True
        return any(one.reading is not None and not one.reading.is_done for one in self.windows.saved)

    @property
    def _is_inside(self) -> bool:
        """Whether a step ends inside another one or inside backward: torch's profiler would crash, or warn of both."""
        self.is_kept_out = self._loop.is_inside_step or self._backwards.is_running
        return self.is_kept_out

    def _begins(self, step: int) -> None:
        windows = self.windows
        if windows is None or self._is_inside:
            return
        self._began = self._began or clocks.perf_counter()
        self._ask_if_requested(windows)
        for one in windows.saved:
            if one.reading is not None and not one.reading.is_done:
                one.reading.look()
        windows.begins(step)
        if self._asked and not windows.is_busy:
            why, self._asked = self._asked, ""
            for listener in self.on_asked:
                fence.call("looking closely on request", listener, why)
        if windows.is_busy or self.is_disturbed():
            self._loop.iterations.disturbed = True
        self._follow(every_step=self._has_work)

    def _ask_if_requested(self, windows: Windows) -> None:
        """Ask for a window that a signal or a file requests, or for the one after the warm-up."""
        for source in (self._signal, self._file):
            request = None if source is None else source.due()
            if request is not None:
                windows.ask(request)
                self._asked = request.why
        if self._wants_own():
            self._auto = False
            windows.ask(Request("after the warm-up"))

    def _wants_own(self) -> bool:
        if not self._auto or self._options.steps is not None or self._world > 1 or self.theirs.seen:
            return False
        phases = self._loop.iterations.phases
        passed = clocks.perf_counter() - (self._began or 0.0)
        return is_settled(phases.late_s(8), passed, len(phases))

    def _usual_s(self) -> float | None:
        late = self._loop.iterations.phases.late_s()
        return statistics.median(late) if late else None

    def _ends(self, step: int) -> None:
        if self.windows is None or self._is_inside:
            return
        took = self._loop.iterations.last_s
        self.windows.ends(step)
        if self._anomaly is not None and took is not None:
            request = self._anomaly.saw(step, took)
            if request is not None:
                self.windows.ask(request)

    def _phase(self, phase: str, began: float, ended: float) -> None:
        if self.windows is not None and self.windows.phases is not None:
            self.windows.phases.add(phase, began, ended)

    def _no_phases(self) -> None:
        if self._phase in self._loop.on_phase:
            self._loop.on_phase.remove(self._phase)

    def _make_way(self) -> None:
        if self.windows is not None:
            self.windows.abandon("the script starts its own torch.profiler, so Stepscope's window was closed")

    # -- the end --------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """The script is over: end what records, take the hooks away."""
        if self.windows is not None:
            fence.fenced("ending a window")(self.windows.finish)()
        fence.fenced("leaving the script's profiler alone")(self.theirs.remove)()
        if self._compiling is not None:
            self._compiling.remove()
        if self._signal is not None:
            fence.fenced("giving a signal back")(self._signal.remove)()

    @property
    def took_own(self) -> bool:
        """A window of Stepscope is among those that were saved."""
        return any(one.meta.id != THEIRS for one in self.saved)

    def take_theirs(self) -> None:
        """Not a window of Stepscope: the last trace the script's own profiler wrote is taken into the run."""
        run = self._run()
        found = next((Path(path) for path in reversed(self.theirs.traces) if os.path.isfile(path)), None)
        if self.windows is None or run is None or found is None:
            return
        folder = new_folder(run, THEIRS, self._rank)
        with open(found, "rb") as file:
            packed = ".gz" if file.read(2) == b"\x1f\x8b" else ""
        shutil.copyfile(found, folder / f"rank{self._rank}.trace.json{packed}")
        why = f"written by the script's own profiler: {found.name}"
        meta = ProfileMeta(
            id=folder.name,
            kind="pytorch",
            created=clocks.time(),
            why=why,
            world=self._world,
        )
        write_meta(folder, meta, self._rank)
        self.saved.append(Saved(folder, meta, reading=Reading(folder, self._rank)))

    def wait(self) -> list[str]:
        """Wait until all windows are read; what went wrong with any."""
        said = [one.reading.wait(READ_WITHIN_S) for one in self.saved if one.reading is not None]
        if self._world > 1 and self._rank == 0 and self.saved:
            said.append(self._wait_for_others(self.saved[0].folder))
        return [text for text in said if text is not None]

    def _wait_for_others(self, folder: Path) -> str | None:
        """The other ranks end at about the same time, if they can be seen from here at all."""
        deadline = clocks.monotonic() + OTHERS_WITHIN_S
        while True:
            there = set(os.listdir(folder))
            missing = [rank for rank in range(self._world) if f"rank{rank}.events" not in there]
            if not missing:
                return None
            if clocks.monotonic() >= deadline:
                return f"of {self._world} ranks, {len(missing)} are not in {folder} yet; their files may come later"
            clocks.sleep(0.1)
