"""Trainers (Lightning, transformers, ...) and loggers (TensorBoard, W&B, MLflow) that the script uses."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.loader_roles import Roles
from stepscope.launch.part import Part
from stepscope.launch.parts.watch import Watch
from stepscope.launch.session_context import Around
from stepscope.launch.trackers import Hub, watch_trackers
from stepscope.launch.trackers.tracked_run import RunTarget
from stepscope.launch.trainers import Boundaries, Stage, follow_trainers


def boundaries_of(
    around: Around, roles: Roles, rank_command: Callable[[list[str]], list[str]]
) -> tuple[Boundaries, Hub]:
    """What trainers say is logged by this process only: a forked rank logs what its trainer says by itself."""
    tracking, loop, pid = around.tracking, around.loop, os.getpid()

    def log(values: Any, step: int | None) -> None:
        if os.getpid() == pid:
            tracking.ensure()
            at = loop.last_number if step is None else step
            tracking.log(hub.known(boundaries.trainer or "trainer", values, at), at)

    boundaries = Boundaries(loop, roles, log, tracking.settings, tracking.summary)
    boundaries.rank_command = rank_command
    hub = Hub(RunTarget(tracking, loop, boundaries))
    return boundaries, hub


class FollowedTrainers(Part):
    """Steps of a trainer that tunes are taken back after: they are not the training."""

    def __init__(self, around: Around, boundaries: Boundaries, logbook: Logbook, watch: Watch | None) -> None:
        self._around, self._boundaries, self._logbook, self._watch = around, boundaries, logbook, watch
        self._silence = ExitStack()

    def begin(self) -> None:
        self._boundaries.on_enter.append(self._enter)
        self._boundaries.on_leave.append(lambda stage: self._silence.close() if stage == "tuning" else None)
        follow_trainers(self._around.imports, self._around.installed, self._boundaries)

    def _enter(self, stage: Stage) -> None:
        if stage == "tuning":
            self._silence.enter_context(self._around.loop.silent())
            self._silence.enter_context(self._logbook.silent())
            if self._watch is not None and self._watch.watcher is not None:
                self._silence.enter_context(self._watch.watcher.mute())


class HeardTrackers(Part):
    """What the script tells other trackers."""

    def __init__(self, around: Around, hub: Hub) -> None:
        self._around, self._hub = around, hub

    def begin(self) -> None:
        watch_trackers(self._around.imports, self._around.installed, self._hub)
