"""Also records what a script sends to TensorBoard's writers: `wandb.init(sync_tensorboard=True)`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers.name_registry import OURS, Hub, Origin
from stepscope.launch.trackers.tensorboard import watch_tensorboard
from stepscope.records import Event
from stepscope.track.logger import Logger

if TYPE_CHECKING:
    from stepscope.track.run import Run

__all__ = ["hear_tensorboard"]


def hear_tensorboard(run: Run) -> Callable[[], None]:
    """Listen until the returned function is called. Under `stepscope run` the launcher already does so."""
    if any(isinstance(finder, Imports) for finder in sys.meta_path):
        return lambda: None
    imports, installed = Imports(), Installed()
    watch_tensorboard(imports, installed, _OwnNames(_Open(run)))
    imports.install()

    def stop() -> None:
        imports.remove()
        installed.remove()

    return stop


class _OwnNames(Hub):
    """No launcher logs beside the script here, so all of the script's names are free."""

    def named(self, origin: Origin, name: str) -> str:
        given = super().named(origin, name)
        return name if given == f"{origin.tool}/{name}" and name.startswith(OURS) else given


class _Open:
    """An open run. It counts its own steps: the writers' are recorded beside them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._logger = Logger(run._sink)

    @property
    def step(self) -> int:
        return self._run.step

    @property
    def is_told_by_trainer(self) -> bool:
        return False

    def log(self, values: Mapping[str, Any], step: int | None) -> None:
        if not self._run.is_finished:
            self._logger.log(values, self.step if step is None else step)

    def settings(self, values: Mapping[str, Any], overrule: bool) -> None:
        known = {} if overrule else dict(self._run.config)
        self._run.config.update({name: value for name, value in values.items() if name not in known})

    def summary(self, values: Mapping[str, Any]) -> None:
        self._run.summary.update(values)

    def event(self, event: Event) -> None:
        self._run._writer.event(event)
