"""The session of `stepscope profile`: looks at enough of a training to say where its time goes, then ends it."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope import fence
from stepscope.common import clocks
from stepscope.errors import StepscopeError
from stepscope.events.process import DivertedStdout
from stepscope.launch.deep_windows import RANKS_STEPS, Deep
from stepscope.launch.limits import Limiter
from stepscope.launch.options import Options, Profiling
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.loop import FollowedLoop, Limited
from stepscope.launch.parts.pulse import deep_of
from stepscope.launch.parts.terminal import ShownStatus, status_text
from stepscope.launch.parts.verdict import Judged
from stepscope.launch.phase_profile import on_device, simple_meta, wait_for_ranks
from stepscope.launch.profiling.python import PythonTimes
from stepscope.launch.profiling.trials import Trials
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.launch.session_context import Around
from stepscope.launch.sessions import Pieces
from stepscope.launch.trial.live import Training
from stepscope.launch.without_torch import needs_torch
from stepscope.profile.collect.facts import Facts
from stepscope.profile.collect.schedule import TOO_LONG_S, is_settled
from stepscope.profile.data.collect import DataCollector
from stepscope.profile.data.ideal import IdealLoader, install_ideal
from stepscope.profile.profile import Profile
from stepscope.profile.store import SIMPLE, new_folder, write_meta, write_part
from stepscope.records.profile import ProfileMeta
from stepscope.runs.format.writer_identity import host_name

if TYPE_CHECKING:
    from stepscope.records import Finding

SIMPLE_STEPS = 30
SAMPLED_S, SAMPLED_STEPS = 2.0, 200
Show = Callable[[Profile, "ProfileReport"], None]


def profile_session(script: Script, options: Options, *, show: Show, to_stdout: bool = False) -> Session:
    """No rules and no pulse: what is measured is the script. `show` prints the profile when the script is over."""
    assert options.profiling is not None
    around = Around(script, options)
    pieces = Pieces(around)
    kind = options.profiling.profiler
    if kind in ("auto", "pytorch"):
        pieces.deep = deep_of(around, options.profiling, auto=True)
    elif not options.profiling.on:
        pieces.deep = None
    measured = Measured(around, options.profiling, pieces.limiter, pieces.deep)
    usual = status_text(around, pieces.logbook)
    parts = [
        ProfileReport(around, measured, pieces.limiter, show=show, to_stdout=to_stdout),
        Judged(pieces.case(None)),
        *pieces.entrance(None),
        FollowedLoop(around.loop),
        Limited(pieces.limiter),
        measured,
        ShownStatus(around, lambda width: f"{usual(width)} · {measured.doing}"),
        pieces.ends(),
    ]
    return Session(around, parts)


class Measured(Part):
    """Phases, windows, samples of Python and facts of the steps, kept in one folder of the run."""

    ending = "keeping the phases of the steps"

    def __init__(self, around: Around, profiling: Profiling, limiter: Limiter, deep: Deep | None) -> None:
        self._around, self.profiling, self._limiter, self.deep = around, profiling, limiter, deep
        self.loop, self.script = around.loop, around.script
        kind = profiling.profiler
        self.facts = Facts()
        self.data = DataCollector() if kind in ("auto", "pytorch") else None
        self.python = PythonTimes(sample=kind in ("auto", "advanced"), calls=kind == "advanced")
        self.ideal: IdealLoader | None = None
        self.folder: Path | None = None
        self._rank, self._world = around.rank, around.world
        self._enough: str | None = None
        self._began: float | None = None
        self._trials: Trials | None = None
        self._optimizers: list[weakref.ref[Any]] = []
        if deep is not None:
            deep.is_disturbed = lambda: self.facts.looking or self.python.counts_calls

    # -- the beginning --------------------------------------------------------------------------------------------

    def begin(self) -> None:
        if self.profiling.ideal:
            self.ideal = install_ideal(self._around.imports)
        self.python.sampling(True)  # a script that never makes a step has its Python profiled, and nothing else
        self.loop.on_optimizer.append(lambda optimizer: self._optimizers.append(weakref.ref(optimizer)))
        self.loop.before_backward.append(self._maybe_end)
        self.loop.before_step.append(lambda optimizer: self._maybe_end())

    def torch_came(self, torch: ModuleType) -> None:
        loaders = sys.modules["torch.utils.data.dataloader"]
        self.facts.install_loaders(loaders)
        if self.data is not None:
            fence.call("timing the loading of data", self.data.install, loaders)
        if self.deep is not None:
            fence.call("preparing windows", self.deep.start, torch)
        self.facts.install(torch)
        self.loop.iterations.on_begin.append(self._turn)

    # -- while it runs --------------------------------------------------------------------------------------------

    def _has_busy_window(self) -> bool:
        return self.deep is not None and self.deep.windows is not None and self.deep.windows.is_busy

    def _may_end_now(self) -> bool:
        return not self.profiling.keep_running and self._has_enough and self._has_tried()

    def _turn(self, step: int) -> None:
        if not self.loop.steps:
            return
        if self._began is None:
            self.python.forget()
        self._began = self._began or clocks.perf_counter()
        busy = self._has_busy_window()
        if busy or self.facts.looking:
            self.loop.iterations.disturbed = True
        if not self.python.calls_done:
            self._count_calls(step)
        settled = self.facts.looked or step > 10
        # A trial is of the script alone: a sampler would slow its Python down, and so hide what a change gains.
        self.python.sampling(not busy and not self.python.counts_calls and settled and self._trials is None)
        if self._enough is None and self._may_end_now():
            self._enough = f"after {self.loop.steps} steps: that is enough for the profile"
        if self.loop.iterations.asking:
            self._maybe_end()

    def training(self) -> Training:
        """What a trial switches."""

        def optimizers() -> list[Any]:
            return [one for found in self._optimizers if (one := found()) is not None]

        loop = self.loop
        return Training(self._around.imports, optimizers, loop.loader_of, lambda: loop.backwards)

    def _stop_timing(self) -> None:
        fence.fenced("ending the look")(self.facts.remove)()
        if self.data is not None:
            fence.fenced("timing the loading of data")(self.data.stop)()

    @property
    def _is_one_kind(self) -> bool:
        """Whether one kind of profile was asked for, and no advice."""
        return self.profiling.profiler != "auto" or self.profiling.ideal

    def _has_tried(self) -> bool:
        """Whether all advice that can be tried in the running training was; the training is only a trial by then."""
        if not self.profiling.tries or self._world > 1 or self.profiling.steps is not None or self._is_one_kind:
            return True
        if self._trials is None:
            self.python.sampling(False)
            self._trials = Trials(self)
            self._stop_timing()  # what is tried is the script, without clocks around its samples
        self.loop.iterations.disturbed = True
        return self._trials.turn()

    def _count_calls(self, step: int) -> None:
        """cProfile, for the steps that were asked for or when the training has settled."""
        steps = self.profiling.steps or (RANKS_STEPS if self._world > 1 else None)
        if self.python.counts_calls:
            self.python.calls_step(step, None if steps is None else steps.last)
        elif step >= steps.first if steps is not None else self._is_settled:
            self.python.begin_calls(step)
        if self.python.counts_calls:
            self.loop.iterations.disturbed = True

    @property
    def _is_settled(self) -> bool:
        phases = self.loop.iterations.phases
        return is_settled(phases.late_s(8), clocks.perf_counter() - (self._began or 0.0), len(phases))

    @property
    def _has_enough(self) -> bool:
        kind = self.profiling.profiler
        if self._world > 1:
            return self.loop.steps >= self._ranks_end
        if kind == "advanced":
            return self.python.calls_done
        if kind == "simple":
            wanted = self.profiling.steps
            if wanted is not None:
                return self.loop.steps >= wanted.last
            return self._is_settled and len(self.loop.iterations.phases) >= SIMPLE_STEPS
        deep = self.deep
        if deep is None or not deep.saved or deep.windows is None or deep.windows.wants_more:
            return False
        return self.profiling.steps is not None or kind == "pytorch" or self._was_sampled

    @property
    def _ranks_end(self) -> int:
        """Where all ranks stop, whatever happened on any of them: one that continues alone would wait without end."""
        steps, kind = self.profiling.steps, self.profiling.profiler
        if steps is not None:
            return steps.last
        return RANKS_STEPS.last if kind != "simple" else RANKS_STEPS.last + SIMPLE_STEPS

    @property
    def _was_sampled(self) -> bool:
        """Long enough for the sampler and the percentiles to mean something."""
        phases = self.loop.iterations.phases
        passed = clocks.perf_counter() - (self._began or 0.0)
        return phases.seconds >= SAMPLED_S or len(phases) >= SAMPLED_STEPS or passed >= TOO_LONG_S

    def _maybe_end(self) -> None:
        if self._enough is not None:
            self._limiter.end(self._enough)

    @property
    def doing(self) -> str:
        """For the status line."""
        windows = None if self.deep is None else self.deep.windows
        if windows is not None and windows.is_recording:
            return "recording"
        if self.python.counts_calls:
            return "counting calls"
        if self._trials is not None and self._enough is None:
            return "trying the advice"
        if self._enough is not None or (self.deep is not None and self.deep.saved):
            return "recorded" if self.profiling.keep_running else "timing some more steps"
        return "waiting for steps to settle" if self.loop.steps else "waiting for the first step"

    # -- the end --------------------------------------------------------------------------------------------------

    def end(self, ended: Ended) -> None:
        """Everything into one folder: that of the first window, or one without a trace."""
        self.loop.iterations.conclude()
        self.python.stop()
        if self.deep is not None:
            self.deep.stop()
        facts = self.facts.result() if self._trials is None else self._trials.end()
        if self._trials is None:
            self._stop_timing()
        if self.ideal is not None:
            fence.fenced("giving the loaders back")(self.ideal.remove)()
        if facts:
            facts["lines"] = fence.fenced("finding slow lines")(self.python.lines)() or []
        run = self._around.run_folder()
        if run is not None:
            self._keep_in(run, facts)

    def _keep_in(self, run: Path, facts: dict[str, Any]) -> None:
        table = self.loop.iterations.phases
        if self.deep is not None and not self.deep.saved:
            fence.fenced("reading the script's own trace")(self.deep.take_theirs)()
        saved = self.deep.saved[0] if self.deep is not None and self.deep.saved else None
        if saved is None and not len(table):
            if not self.loop.steps and self.python.has_samples:
                self.folder = self._keep_python(run)
            return
        folder = self.folder = new_folder(run, SIMPLE, self._rank) if saved is None else saved.folder
        parts = table.result(on_device=on_device())
        keep = fence.fenced("keeping a part of the profile")
        keep(write_part)(folder, f"rank{self._rank}.phases", parts)
        facts = {**facts, "host": host_name(), **({} if saved is None else saved.facts)}
        keep(write_part)(folder, f"rank{self._rank}.facts.json", facts)
        keep(self.python.keep)(folder, self._rank)
        if self.data is not None:
            keep(self.data.save)(folder, self._rank)
        meta = simple_meta(folder.name, parts) if saved is None else saved.meta
        write_meta(folder, self._described(meta), self._rank)

    def _keep_python(self, run: Path) -> Path:
        """Of a script without a step: where its Python spent the time."""
        folder = new_folder(run, SIMPLE, self._rank)
        self.python.keep(folder, self._rank)
        why = needs_torch(self.script.name, 0) or f"{self.script.name} made no optimizer step"
        notes = [f"{why}: its Python code was sampled from start to end; there are no steps to analyze"]
        meta = ProfileMeta(
            id=folder.name, kind="advanced", created=clocks.time(), why=f"stepscope profile {self.script.name}",
            host=host_name(), notes=notes,
        )  # fmt: skip
        write_meta(folder, meta, self._rank)
        return folder

    def _described(self, meta: ProfileMeta) -> ProfileMeta:
        kind = self.profiling.profiler
        notes = list(meta.notes)
        deep = self.deep
        if deep is not None and not deep.took_own and kind in ("auto", "pytorch"):
            notes.append(self._why_no_window())
        if kind == "advanced" and self.python.calls_steps:
            first, last = self.python.calls_steps[0], self.python.calls_steps[-1]
            notes.append(f"every call was counted in steps {first} to {last}")
        if self.ideal is not None:
            notes += ["the first batches were reused: trust the speed, not the loss"]
            results = self.ideal.results()
            notes += [one.text() for one in results if one.gain is not None] or [one.text() for one in results[:1]]
        found = "advanced" if kind == "advanced" else meta.kind
        return msgspec.structs.replace(meta, kind=found, why=self._why(meta), notes=notes)

    def _why(self, meta: ProfileMeta) -> str:
        return meta.why if self.deep is not None and self.deep.saved else f"stepscope profile {self.script.name}"

    def _why_no_window(self) -> str:
        assert self.deep is not None
        if self.deep.theirs.seen:
            found = "its recording is used instead" if self.deep.saved else "it wrote no readable trace"
            return f"the script uses torch.profiler itself; {found}"
        steps = self.loop.steps
        if not steps:
            return "no optimizer step was made, so no step could be recorded"
        if self.deep.is_kept_out:
            return "its optimizers step inside backward() or inside other optimizers, where no window can begin or end"
        return (
            f"the script ended after {steps} steps, before a window was recorded; "
            f"choose the steps yourself: stepscope profile --steps {steps // 2}:{steps} {self.script.name}"
        )


class ProfileReport(Part):
    """What `show` prints of the profile."""

    ending = "reporting on the profile"

    def __init__(
        self, around: Around, measured: Measured, limiter: Limiter, *, show: Show, to_stdout: bool = False
    ) -> None:
        self.around = around
        self.to_stdout = to_stdout
        self._measured, self._limiter, self._show = measured, limiter, show
        self._began_in = os.getcwd()
        self._stdout: DivertedStdout | None = None

    def begin(self) -> None:
        if self.to_stdout:  # what the script prints must not end up in the JSON
            self._stdout = DivertedStdout()

    def end(self, ended: Ended) -> None:
        measured, reporter = self._measured, self.around.reporter
        if self.around.rank != 0:
            return
        if self._limiter.stopped is not None:
            reporter.note(f"stopped {self._limiter.stopped}")
        if measured.folder is None:
            reporter.say(f"stepscope: nothing to profile: {self._nothing(ended.crash is not None)}")
            return
        for fault in [] if measured.deep is None else measured.deep.wait():
            reporter.note(fault)
        if self._stdout is not None:
            self._stdout.remove()
        wait_for_ranks(measured.folder, self.around.world)
        try:
            self._show(Profile.load(measured.folder), self)
        except StepscopeError as error:  # a column that is not there: the user's to fix, not an internal error
            reporter.say(f"stepscope: {error}")
        if self._stdout is not None:  # what the script prints at its exit is no JSON either
            self._stdout = DivertedStdout()

    def tried(self, profile: Profile) -> list[Finding]:
        """Run the script again with each piece of advice that can be tried; findings with what that gave."""
        from stepscope.profile.advice.trials import try_advice

        here = os.getcwd()
        os.chdir(self._began_in)  # the script may have left the folder its arguments are meant for
        try:
            return try_advice(profile, self.around.script, settings=self.around.settings, say=self._say_trial)
        finally:
            os.chdir(here)

    def _say_trial(self, text: str) -> None:
        stream = sys.stderr if self.to_stdout else sys.stdout
        stream.write(text + "\n")
        stream.flush()

    def _nothing(self, crashed: bool) -> str:
        if crashed:
            return f"{self.around.script.name} crashed during its first step"
        if self.around.run_folder() is None:
            return "no run folder could be written"
        return f"{self.around.script.name} made no optimizer step"
