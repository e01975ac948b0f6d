"""One launched script: its run folder, its watcher, its rules, its limits and its end, wired together."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.diagnose.settings import load_settings
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.children import Children
from stepscope.launch.coverage import keep_coverage
from stepscope.launch.crash_story import tell_story
from stepscope.launch.detect_nan import DetectNan
from stepscope.launch.heard import Hub, watch_trackers
from stepscope.launch.heard.target import RunTarget
from stepscope.launch.hyperparameters import Hyperparameters
from stepscope.launch.limits import Limiter
from stepscope.launch.logbook import Logbook
from stepscope.launch.loop import Loop
from stepscope.launch.nothing_saved import NothingSaved
from stepscope.launch.options import Options, Profiling
from stepscope.launch.rank_notes import RankNotes, is_lost_connection
from stepscope.launch.reporting import Reporter, counted
from stepscope.launch.script import Script
from stepscope.launch.status import StatusLine
from stepscope.launch.switches import apply_switches
from stepscope.launch.tracking import BESIDE, Tracking
from stepscope.launch.trainers import Boundaries, Stage, follow_trainers
from stepscope.launch.verdict import judge, verdict_text
from stepscope.launch.wakes import wake_on_signs
from stepscope.launch.without_torch import needs_torch
from stepscope.profile.collect.moves import Moves
from stepscope.track import ranks
from stepscope.track.ending import Ending, ending_of

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.launch.capsule.keeper import Keeper, Kept
    from stepscope.launch.evidence_file import EvidenceFile, ForProcess
    from stepscope.launch.profiling.deep import Deep
    from stepscope.launch.trying import Trying
    from stepscope.record.watch import Watcher
    from stepscope.record.watch.witness import Witness
    from stepscope.records import Finding
    from stepscope.records.verdict import ScriptVerdict

__all__ = ["Session"]

PROBE_AT_STEP = 3
_RECORDED = "what it logs and prints and the system are recorded; findings, steps and phases need PyTorch"


class Session:
    """Everything of ours around one script, from `begin` to `conclude`. Nothing in it raises into the script."""

    def __init__(self, script: Script, options: Options) -> None:
        self.script = script
        self.options = options
        limits = options.limits
        self.is_dry = options.check or limits.fast_dev_run is not None
        rank = ranks.place().rank
        self._rank = rank
        self.settings = settings = load_settings(
            script.path,
            select=options.select,
            ignore=options.ignore,
            strict=options.strict or None,
            project=options.project,
            dir=None if options.dir is None else str(options.dir),
        )
        self.tracking = Tracking(
            script.path,
            project=settings.project,
            name=options.name,
            dir=None if settings.dir is None else Path(settings.dir),
            on=options.record and not self.is_dry,
        )
        self.rank_notes = RankNotes()
        record = self.rank_notes.once(self.tracking.event)
        self.reporter = Reporter(options, settings, record, speaks=rank == 0, script=script.path)
        self.loop = Loop()
        self.limiter = Limiter(limits, self.loop, check=options.check)
        self.logbook = Logbook(self.loop, self.tracking.log)
        self.hyperparameters = Hyperparameters(self.tracking.settings)
        self.boundaries = Boundaries(
            self.loop, self.limiter.roles, self._log_trainers, self.tracking.settings, self.tracking.summary
        )
        self.hub = Hub(RunTarget(self.tracking, self.loop, self.boundaries))
        self.imports = Imports()
        self.children = Children(settings, lambda: "" if self.tracking.is_own else BESIDE, self._childrens_evidence)
        self.children.on_ranks = self.rank_notes.lead
        self.boundaries.rank_command = self.children.rank_command
        self.watcher: Watcher | None = None
        self.engine: Engine | None = None
        self.detect_nan = DetectNan(self.loop, self.reporter.say) if options.switches.detect_nan else None
        self.saved: NothingSaved | None = None
        self.status: StatusLine | None = None
        self._keeper: Keeper | None = None
        self._evidence_file: EvidenceFile | None = None
        self._trying: Trying | None = None
        self.moves = Moves(self.loop.moved)
        self.deep: Deep | None = None
        if options.profiling is not None and not self.is_dry:
            self.deep = self._deep(options.profiling)
        self._installed = Installed()
        self._over = False
        self.judged: ScriptVerdict | None = None
        """Once it is over."""
        self.says_verdict = True
        self._pid = os.getpid()

    def _deep(self, profiling: Profiling, *, auto: bool = False) -> Deep:
        from stepscope.launch.profiling.deep import Deep

        place = ranks.place()
        return Deep(
            self.loop,
            profiling,
            run=self._run_folder,
            rank=place.rank,
            world=place.world_size,
            say=self.reporter.note,
            auto=auto,
        )

    def _run_folder(self) -> Path | None:
        run = self.tracking.run
        return None if run is None else run.path

    # -- the beginning --------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Arrange everything; nothing of torch is imported before the script does."""
        self.tracking.open()
        self.imports.install()
        for notice in apply_switches(self.options.switches, self.imports, self._installed):
            self.reporter.note(notice)
        if self.is_dry:
            self.saved = NothingSaved(self.imports, self.reporter.note)
        self.loop.on_step.append(self._stepped)
        self.hyperparameters.follow(self.loop)
        self.imports.when("torch", self._torch_came)
        fence.fenced("watching for hyper-parameters")(self.hyperparameters.install)(self.imports)
        self._follow_trainers()
        watch_trackers(self.imports, self._installed, self.hub)
        if not self.options.quiet and self._rank == 0 and StatusLine.is_wanted():
            self._show_status()

    def _follow_trainers(self) -> None:
        """Steps of a trainer that tunes are taken back after: they are not the training."""
        boundaries, silence = self.boundaries, ExitStack()

        def enter(stage: Stage) -> None:
            if stage == "tuning":
                silence.enter_context(self.loop.silent())
                silence.enter_context(self.logbook.silent())
                if self.watcher is not None:
                    silence.enter_context(self.watcher.mute())

        boundaries.on_enter.append(enter)
        boundaries.on_leave.append(lambda stage: silence.close() if stage == "tuning" else None)
        follow_trainers(self.imports, self._installed, boundaries)

    def _show_status(self) -> None:
        status = self.status = StatusLine(self._status_text)
        status.install()
        self.reporter.before_writing = status.wipe
        self.loop.on_step.append(lambda optimizer: status.tick())
        self.loop.on_batch.append(lambda iterator, batch: status.tick())

    def _loaders_came(self, module: Any) -> None:
        self.limiter.install_loaders(module)

    def _torch_came(self, torch: Any) -> None:
        if os.getpid() != self._pid:  # a forked child that imports it first
            return
        self.loop.install()
        self._loaders_came(sys.modules["torch.utils.data.dataloader"])
        if self.deep is not None:
            fence.fenced("preparing windows")(self.deep.start)(torch)
        self._watch_training(torch)

    def _watch_training(self, torch: Any) -> None:
        if self.deep is not None and self.deep.windows is not None:
            self.deep.windows.notes.append("taken within a run: its pulse (gradient norm) and its watch are in it too")
        self.logbook.start()
        if self.options.diagnose:
            fence.fenced("starting the watch")(self._watch)()
        if self.detect_nan is not None:
            if self.watcher is not None:
                self.watcher.governor.close("--detect-nan follows every value instead")
            self.detect_nan.start(torch)

    def _watch(self) -> None:
        from stepscope.diagnose.engine import Engine
        from stepscope.diagnose.evidence import Evidence
        from stepscope.launch.evaluations import Evaluations
        from stepscope.launch.trying import Trying
        from stepscope.record.watch import Watcher

        watcher = Watcher()
        evaluations = Evaluations(watcher, self._evaluated)
        watcher.add(evaluations)
        self.boundaries.facts = watcher.trainer
        self.boundaries.on_enter.append(evaluations.begin)
        self.boundaries.on_leave.append(lambda stage: evaluations.end(told=self.boundaries.has_results))
        for witness in self._more_witnesses(watcher):
            watcher.add(witness)
        if self.options.capsule and self.options.record and not self.is_dry:
            fence.fenced("preparing a capsule")(self._keep_capsules)(watcher)
        self.engine = Engine(Evidence.of(watcher), settings=self.settings, on_finding=self._found)
        watcher.on_moment = self.engine.moment
        if self.options.check:
            self._trying = Trying(watcher, self.engine, self.loop, self.limiter)
        if self.options.record and not self.is_dry:
            self._keep_evidence(watcher, self.engine)
        self.children.install(self._installed)
        self.rank_notes.begin(watcher)
        wake_on_signs(watcher, self.logbook, self.deep)
        self.watcher = watcher.start()

    def _keep_evidence(self, watcher: Watcher, engine: Engine) -> None:
        from stepscope.launch.evidence_file import EvidenceFile

        file = self._evidence_file = EvidenceFile(engine.evidence, self._run_folder, self._rank, self.script.name)
        watcher.on_moment = file.after(engine.moment)

    def _childrens_evidence(self) -> ForProcess | None:
        return None if self._evidence_file is None else self._evidence_file.for_process()

    def _found(self, finding: Finding) -> None:
        self.reporter.take(finding)
        self.rank_notes.found(finding)

    def _more_witnesses(self, watcher: Watcher) -> list[Witness]:
        """Those that only some commands need: probes repeat a step, for which it must have been kept."""
        from stepscope.record.watch.tape import Tapes

        return [Tapes(watcher)] if self.options.check else []

    def _keep_capsules(self, watcher: Watcher) -> None:
        from stepscope.launch.capsule.failure import Surroundings
        from stepscope.launch.capsule.keeper import Keeper
        from stepscope.track.session import current

        script = self.script
        surroundings = Surroundings(
            script=script.path if script.spec is None else script.spec.name,
            is_module=script.spec is not None,
            argv=list(script.argv[1:]),
            rank=self._rank,
        )
        keeper = Keeper(
            watcher, surroundings, run=current, most_bytes=self.options.capsule_bytes, on_kept=self._say_kept
        )
        watcher.add(keeper)
        keeper.cadence = self.logbook.cadence
        self.logbook.on_beat.append(keeper.beat)
        self._keeper = keeper

    def _say_kept(self, kept: Kept) -> None:
        run = self.tracking.run
        again = f"stepscope replay {'last' if run is None else run.name}"
        size = f"{kept.bytes / 1e6:.1f} MB" if kept.bytes >= 1e5 else f"{kept.bytes / 1e3:.1f} kB"
        self.reporter.note(f"step {kept.step} is kept ({size}); repeat it with: {again}")

    # -- while it runs --------------------------------------------------------------------------------------------

    def _stepped(self, optimizer: Any) -> None:
        """In the first steps."""
        if self.loop.steps >= PROBE_AT_STEP:
            self.loop.on_step = [one for one in self.loop.on_step if one != self._stepped]
        if self.loop.steps == 1:
            fence.fenced("timing moves to a device")(self.moves.install)(sys.modules["torch"])
            self.tracking.ensure()
            self.hyperparameters.look_at_script()
        if self._trying is not None and self.loop.steps == PROBE_AT_STEP:
            self._trying.run()

    def _evaluated(self, values: dict[str, float]) -> None:
        self.logbook.evaluated(values)

    def _log_trainers(self, values: Any, step: int | None) -> None:
        if os.getpid() != self._pid:
            return  # a forked rank logs what its trainer says by itself
        self.tracking.ensure()
        at = self.loop.last_number if step is None else step
        self.tracking.log(self.hub.known(self.boundaries.trainer or "trainer", values, at), at)

    def _status_text(self, width: int) -> str:
        return self.logbook.status(counted([one for one in self.reporter.findings if one.severity != "info"]))

    # -- the end --------------------------------------------------------------------------------------------------

    def conclude(self, error: BaseException | None) -> None:
        """The script has ended: ask the rules a last time, explain a crash, take everything of ours away.

        The run stays open: what `atexit` handlers print still belongs to it.
        """
        if self._over or os.getpid() != self._pid:  # a forked child that comes to the script's end
            return
        self._over = True
        crashed = error is not None and not isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit)
        if crashed or self.loop.steps:
            self.tracking.ensure()
        if self.detect_nan is not None:
            self.detect_nan.stop()
        if self.status is not None:
            fence.fenced("removing the status line")(self.status.remove)()
        fence.fenced("the last look")(self._ask_last)(error if crashed else None)
        if self._evidence_file is not None:
            fence.call("keeping what was seen", self._evidence_file.write)
        self._take_away()
        fence.call("keeping what was looked at", keep_coverage, self)
        self.judged = fence.call("judging the script", judge, self, error)
        self.reporter.close(self.judged)
        self._sum_up(crashed)

    def _ask_last(self, crash: BaseException | None) -> None:
        if "stepscope.launch.breakpoints" in sys.modules:
            from stepscope.launch.breakpoints import clear_breakpoints

            clear_breakpoints()
        if self.watcher is not None and crash is None:
            self.watcher.stop()
        lost = crash is not None and self.rank_notes.is_on and is_lost_connection(crash)
        if self.engine is not None:
            told = self._hear_others(self.engine, crash)
            if crash is not None and told is not None and type(crash).__module__ == "torch.multiprocessing.spawn":
                self.reporter.say(told)  # it happened in a process that has explained it
                self.engine.finish()
            elif lost:
                self.reporter.note(self.rank_notes.who_failed_first())
                self.engine.finish()
            elif crash is not None:
                if self.rank_notes.is_on:
                    self.reporter.speak(self.rank_notes.tells_of_crash())
                fence.fenced("explaining the crash")(self.engine.crashed)(crash)
                fence.call("showing what was there at the crash", tell_story, self.engine.evidence, self.reporter.say)
            else:
                if self._trying is not None and self.loop.steps:
                    self._trying.run()  # fewer steps than it waits for
                self.engine.finish()
        if crash is not None and not lost and self._keeper is not None:
            fence.fenced("keeping the failing step")(self._keeper.crashed)(crash)

    @fence.fenced("hearing of other processes")
    def _hear_others(self, engine: Engine, crash: BaseException | None) -> str | None:
        """What processes of the script found, and what other ranks did; what there is to say of a crash in one."""
        self.rank_notes.gather(engine, crash)
        return self.children.gather(engine)

    def _take_away(self) -> None:
        if self.watcher is not None:
            fence.fenced("ending the watch")(self.watcher.stop)()
        fence.fenced("ending the log")(self.logbook.stop)()
        fence.fenced("keeping the phases of the steps")(self._keep_profile)()
        for part in (self.limiter, self.loop, self.moves, self.hyperparameters, self._installed, self.imports):
            fence.fenced("taking hooks away")(part.remove)()
        fence.fenced("clearing notes of processes")(self.children.remove)()
        fence.fenced("clearing notes of processes")(self.rank_notes.remove)()
        if self.saved is not None:
            fence.fenced("clearing the dry run's files")(self.saved.remove)()

    def _keep_profile(self) -> None:
        """Every run keeps its steps by phase; deep windows are on the disk already."""
        from stepscope.launch.profiling.keep import keep_phases

        self.loop.iterations.conclude()
        if self.deep is not None:
            self.deep.stop()
        folder = self._run_folder()
        if folder is not None and not self.is_dry:
            keep_phases(folder, self.loop.iterations.phases, self._rank)
            if self.deep is not None and self.deep.saved:
                steps = ", ".join(f"{one.meta.first_step} to {one.meta.last_step}" for one in self.deep.saved)
                self.reporter.note(f"windows were recorded of the steps {steps}; see them with: stepscope ui")

    @fence.fenced("summing up")
    def _sum_up(self, crashed: bool) -> None:
        if self.limiter.stopped is not None and not self.options.check:
            self.reporter.note(f"stopped {self.limiter.stopped}")
        if self.options.limits.overfit_batches is not None:
            self.reporter.note(self.logbook.overfit_verdict(self.options.limits.overfit_batches))
        if self.options.check:
            if self.judged is not None and self.says_verdict:
                found, quiet = self.reporter.findings, self.options.quiet
                self.reporter.say(verdict_text(self.judged, self.script.name, found, quiet))
            return
        for mistake in self.settings.mistaken_comments([self.script.path]):
            self.reporter.note(mistake)
        shown = [one for one in self.reporter.findings if one.severity != "info"]
        run = self.tracking.run
        without = needs_torch(self.script.name, self.loop.steps)
        if without is not None and not shown and not crashed and not self.children.steps and self.options.record:
            where = "" if run is None else f"; see it with: stepscope show {run.name}"
            self.reporter.note(f"{without}: {_RECORDED}{where}")
            return
        if shown or (StatusLine.is_wanted() and self.loop.steps):
            said = f"{counted(shown) or 'no findings'} in {self.loop.steps or self.children.steps} steps"
            where = "" if run is None or run.path is None else f"; see the run with: stepscope show {run.name}"
            watched = f"; {self.judged.watched}" if self.judged is not None and self.judged.watched else ""
            self.reporter.note(f"{self.script.name}: {said}{watched}{where}")

    def close(self, error: BaseException | None) -> None:
        """The process is about to end this way. Hooks of the run usually have said so; this makes sure."""
        if isinstance(error, SystemExit) and error.code in (None, 0):
            error = None
        self.tracking.close(Ending("finished", 0) if error is None else ending_of(error))

    @property
    def exit_code(self) -> int:
        """For a script that ended well."""
        return 1 if self.reporter.fails else 0
