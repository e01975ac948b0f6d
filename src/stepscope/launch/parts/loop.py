"""The stations of the training loop, and what is arranged in its first step."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.launch.hyperparameters import Hyperparameters
from stepscope.launch.limits import Limiter
from stepscope.launch.loop import Loop
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around
from stepscope.profile.collect.moves import Moves

if TYPE_CHECKING:
    from torch.optim import Optimizer


class FollowedLoop(Part):
    """Batches, backwards and steps are counted and timed."""

    ending = "taking hooks away"

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def torch_came(self, torch: ModuleType) -> None:
        self._loop.install()

    def end(self, ended: Ended) -> None:
        self._loop.remove()


class Limited(Part):
    """Fewer batches, epochs or steps than the script wants."""

    ending = "taking hooks away"

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def torch_came(self, torch: ModuleType) -> None:
        self._limiter.install_loaders(sys.modules["torch.utils.data.dataloader"])

    def end(self, ended: Ended) -> None:
        self._limiter.remove()


class SeenSettings(Part):
    """Hyper-parameters: `parsed` also those that are parsed from a command line, for a script that has not begun."""

    ending = "taking hooks away"

    def __init__(self, around: Around, settings: Hyperparameters, *, parsed: bool = True) -> None:
        self._around, self._settings, self._parsed = around, settings, parsed

    def begin(self) -> None:
        self._settings.follow(self._around.loop)
        if self._parsed:
            fence.call("watching for hyper-parameters", self._settings.install, self._around.imports)

    def end(self, ended: Ended) -> None:
        tracking = self._around.tracking
        if self._parsed and tracking.run is not None and tracking.is_own:
            fence.call(self.ending, self._settings.look_at_the_end)
        self._settings.remove()


class FirstStep(Part):
    """With the first step it is a training: it gets a run, its settings are there, and moves to a device are timed."""

    ending = "taking hooks away"

    def __init__(self, around: Around, settings: Hyperparameters) -> None:
        self._around, self._settings = around, settings
        self._moves = Moves(around.loop.moved)

    def begin(self) -> None:
        self._around.loop.on_step.append(self._stepped)

    def _stepped(self, optimizer: Optimizer) -> None:
        loop = self._around.loop
        loop.on_step = [one for one in loop.on_step if one != self._stepped]
        if loop.steps == 1:
            fence.call("timing moves to a device", self._moves.install, sys.modules["torch"])
            self._around.tracking.ensure()
            self._settings.look_at_script()

    def end(self, ended: Ended) -> None:
        self._moves.remove()
