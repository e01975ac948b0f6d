"""The run of a launched script, as what is heard changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepscope.records import Event

if TYPE_CHECKING:
    from stepscope.launch.loop import Loop
    from stepscope.launch.tracking import Tracking
    from stepscope.launch.trainers.boundaries import Boundaries


class RunTarget:
    """Silent while a trainer hands its values to loggers: those were heard from the trainer."""

    def __init__(self, tracking: Tracking, loop: Loop, boundaries: Boundaries) -> None:
        self._tracking = tracking
        self._loop = loop
        self._boundaries = boundaries

    @property
    def step(self) -> int:
        return self._loop.steps

    def log(self, values: Mapping[str, Any], step: int | None) -> None:
        self._tracking.ensure()
        self._tracking.log(values, self.step if step is None else step)

    @property
    def is_told_by_trainer(self) -> bool:
        return self._boundaries.is_logging

    def settings(self, values: Mapping[str, Any], overrule: bool) -> None:
        self._tracking.settings(values, overrule=overrule)

    def summary(self, values: Mapping[str, Any]) -> None:
        self._tracking.ensure()
        self._tracking.summary(values)

    def event(self, event: Event) -> None:
        self._tracking.ensure()
        self._tracking.event(event)
