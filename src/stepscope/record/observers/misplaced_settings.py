"""Looks for settings that were assigned to an optimizer instead of its parameter groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.misplaced_settings import MisplacedSetting, MisplacedSettings
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.record.observers.watcher import Watcher

_MOST = 20


class MisplacedSettingObserver(Observer, MisplacedSettings):
    def __init__(self, watcher: Watcher) -> None:
        MisplacedSettings.__init__(self)
        super().__init__(watcher)

    def step_done(self, step: Step, optimizer: Any) -> None:
        if not type(optimizer).__module__.startswith("torch.optim"):
            return  # a class of one's own may read its attributes
        kind = type(optimizer).__name__
        for name in vars(optimizer).keys() & optimizer.defaults.keys():
            value = vars(optimizer)[name]
            in_groups = [group.get(name) for group in optimizer.param_groups]
            if not isinstance(value, int | float) or not all(isinstance(one, int | float) for one in in_groups):
                continue
            is_known = any((one.optimizer, one.name) == (kind, name) for one in self.all)
            if value not in in_groups and not is_known and len(self.all) < _MOST:
                self.all.append(MisplacedSetting(kind, name, float(value), [float(one) for one in in_groups]))
