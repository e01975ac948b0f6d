"""What is logged of a training in processes that the script starts itself (`mp.spawn`, `ddp_spawn`, `ddp_fork`).

Rank 0 logs what a launched script logs (loss, learning rate, speed, what its trainer logs) into the run of the process
that started it; every rank keeps its steps by phase. Processes that form no group train something of their own each:
their numbers would be mixed up in one run, and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.evaluations import Evaluations
from stepscope.launch.hyperparameters import Hyperparameters
from stepscope.launch.loader_roles import Roles
from stepscope.launch.loop import Loop
from stepscope.launch.phase_profile import keep_phases
from stepscope.launch.trainers import Boundaries, follow_trainers
from stepscope.track import ranks, session
from stepscope.track.config import flatten
from stepscope.track.logger import Logger

if TYPE_CHECKING:
    from stepscope.record.observers import Watcher
    from stepscope.track.run import Run


class RankLog:
    """Follows the loop and the trainer of this process, from `begin` to `end`. `prefix` goes before our own names."""

    def __init__(self, watcher: Watcher, prefix: str) -> None:
        self._watcher = watcher
        self._prefix = prefix
        self._place = ranks.Place()
        self._run: Run | None = None
        self._logger: Logger | None = None
        self._imports, self._installed = Imports(), Installed()
        self.loop = Loop()
        self.logbook = Logbook(self.loop, self._log)
        self.hyperparameters = Hyperparameters(self._settings)
        self.boundaries = Boundaries(self.loop, Roles(), self._log_trainers, self._settings, self._summary)
        self.boundaries.facts = watcher.trainer

    def begin(self) -> None:
        evaluations = Evaluations(self._watcher, self.logbook.evaluated)
        self._watcher.add(evaluations)
        self.boundaries.on_enter.append(evaluations.begin)
        self.boundaries.on_leave.append(lambda stage: evaluations.end(told=self.boundaries.has_results))
        self.hyperparameters.follow(self.loop)
        self._imports.install()
        self.loop.install()
        self.logbook.start()
        follow_trainers(self._imports, self._installed, self.boundaries)

    def end(self) -> None:
        """The target has returned or failed; multiprocessing is about to end the process."""
        fence.fenced("ending the log")(self.logbook.stop)()
        fence.fenced("keeping the phases of the steps")(self._keep_phases)()
        if self._logger is not None:
            self._logger.flush()

    def _keep_phases(self) -> None:
        self.loop.iterations.conclude()
        where = self._where()
        if where.world_size > 1 and self.loop.steps and self._joined() and self._folder is not None:
            keep_phases(self._folder, self.loop.iterations.phases, where.rank)

    # -- into the run of the process that started this one --------------------------------------------------------

    @property
    def _folder(self) -> Path | None:
        return None if self._run is None else self._run.path

    def _joined(self) -> bool:
        if self._run is None:
            self._run = session.current()
            self._logger = None if self._run is None else Logger(self._run._sink)
        return self._run is not None and not self._run.is_finished

    def _where(self) -> ranks.Place:
        """This process's place in its group, also after the group was taken down at the end of the training."""
        now = ranks.place()
        if now.world_size > 1:
            self._place = now
        return self._place

    @property
    def rank(self) -> int:
        return self._where().rank

    def _speaks(self) -> bool:
        """Whether this is rank 0 of several, and there is a run to write to."""
        where = self._where()
        return where.world_size > 1 and where.rank == 0 and self._joined()

    def _log(self, values: Mapping[str, Any], step: int) -> None:
        if self._speaks() and self._logger is not None:
            self._logger.log({self._prefix + name: value for name, value in values.items()}, step)

    def _log_trainers(self, values: Mapping[str, Any], step: int | None) -> None:
        self._log(values, self.loop.last_number if step is None else step)

    def _settings(
        self, values: Mapping[str, Any], overrule: bool = False, origins: Mapping[str, str] | None = None
    ) -> None:
        if self._speaks() and self._run is not None:
            known = dict(self._run.config)
            fresh = {name: value for name, value in flatten(values).items() if overrule or name not in known}
            self._run.config.take(fresh, origins or {})

    def _summary(self, values: Mapping[str, Any]) -> None:
        if self._speaks() and self._run is not None:
            self._run.summary.update({self._prefix + name: value for name, value in values.items()})
