"""What goes with the watch: results of evaluations, experiments, other processes, and what wakes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.child_processes import Children
from stepscope.launch.governor_wakes import wake_on_signs
from stepscope.launch.limits import Limiter
from stepscope.launch.loader_roles import Roles
from stepscope.launch.part import Ended
from stepscope.launch.parts.watch import Companion
from stepscope.launch.printed.series import PrintedSeries
from stepscope.launch.session_context import Around
from stepscope.launch.trainers import Boundaries

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stepscope.diagnose.engine import Engine
    from stepscope.launch.check_experiments import Trying
    from stepscope.launch.deep_windows import Deep
    from stepscope.record.observers import Watcher

__all__ = ["EvaluatedResults", "Experimenting", "Processes", "Wakes"]

PROBE_AT_STEP = 3


class EvaluatedResults(Companion):
    """Results of evaluations that nobody logs, within the boundaries of a trainer where there is one."""

    def __init__(
        self,
        boundaries: Boundaries,
        told: Sequence[Callable[[dict[str, float]], None]],
        roles: Roles,
        printed: PrintedSeries,
    ) -> None:
        self._boundaries, self._told, self._roles, self._printed = boundaries, told, roles, printed

    def watcher_made(self, watcher: Watcher) -> None:
        from stepscope.launch.evaluations import Evaluations

        boundaries = self._boundaries
        evaluations = Evaluations(watcher, self._evaluated, roles=self._roles, printed=self._printed)
        watcher.add(evaluations)
        boundaries.facts = watcher.trainer
        boundaries.on_enter.append(evaluations.begin)
        boundaries.on_leave.append(lambda stage: evaluations.end(told=boundaries.has_results))

    def _evaluated(self, values: dict[str, float]) -> None:
        for told in self._told:
            told(values)


class Experimenting(Companion):
    """`stepscope check`: a step is kept for probes that repeat it, and experiments are made after a few steps."""

    def __init__(self, around: Around, limiter: Limiter) -> None:
        self._around, self._limiter = around, limiter
        self._trying: Trying | None = None

    def begin(self) -> None:
        if self._around.options.check:
            self._around.loop.on_step.append(self._stepped)

    def watcher_made(self, watcher: Watcher) -> None:
        if self._around.options.check:
            from stepscope.record.observers.tape import Tapes

            watcher.add(Tapes(watcher))

    def watch_begins(self, watcher: Watcher, engine: Engine) -> None:
        if self._around.options.check:
            from stepscope.launch.check_experiments import Trying

            self._trying = Trying(watcher, engine, self._around.loop, self._limiter)

    def _stepped(self, optimizer: Optimizer) -> None:
        loop = self._around.loop
        if loop.steps >= PROBE_AT_STEP:
            loop.no_longer_on_step(self._stepped)
        if loop.steps == PROBE_AT_STEP:
            self.run()

    def run(self) -> None:
        """Make them, once."""
        if self._trying is not None and self._around.loop.steps:
            self._trying.run()


class Processes(Companion):
    """Processes that the script starts, and the other ranks of its job."""

    ending = "clearing notes of processes"

    def __init__(self, around: Around, children: Children) -> None:
        self._around, self._children = around, children

    def watch_begins(self, watcher: Watcher, engine: Engine) -> None:
        self._children.install(self._around.installed)
        self._around.rank_notes.begin(watcher, engine)

    def end(self, ended: Ended) -> None:
        fence.call("clearing notes of processes", self._children.remove)
        self._around.rank_notes.close()


class Wakes(Companion):
    """The watch wakes when the pulse looks wrong, and when the user asks."""

    def __init__(self, logbook: Logbook, deep: Deep | None) -> None:
        self._logbook, self._deep = logbook, deep

    def watch_begins(self, watcher: Watcher, engine: Engine) -> None:
        wake_on_signs(watcher, self._logbook, self._deep)
