"""Follows each call that clips gradients, what it finds there, and whether it comes at the right time."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.common import clocks
from stepscope.events import caller
from stepscope.events.quiet import quietly
from stepscope.evidence.gradient_clips import GradientClip, GradientClips
from stepscope.record.observers.nonzero import is_nonzero
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher

_HOME = "torch.nn.utils.clip_grad"
_KEPT = 500
_LOOKS = 40


class GradientClipObserver(Observer, GradientClips):
    def __init__(self, watcher: Watcher) -> None:
        GradientClips.__init__(self)
        super().__init__(watcher)

    def install(self, installed: Installed) -> None:
        # Inside `clip_grad_norm_`, which warns with the line of its caller; older versions have no inside.
        if not installed.wrap(f"{_HOME}:_clip_grads_with_norm_", partial(self._watched, "clip_grad_norm_")):
            self._everywhere(installed, "clip_grad_norm_")
        self._everywhere(installed, "clip_grad_value_")

    def _everywhere(self, installed: Installed, name: str) -> None:
        for home in (_HOME, "torch.nn.utils"):
            installed.wrap(f"{home}:{name}", partial(self._watched, name))

    def _watched(self, name: str, clip: Any) -> Any:
        observer = self

        @wraps(clip)
        def clipped(parameters: Any, limit: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(parameters, (list, tuple, torch.Tensor)):
                parameters = list(parameters)
            if limit is None:
                limit = kwargs.pop("max_norm", kwargs.pop("clip_value", None))
            observer._note(name, parameters, limit, caller())
            return clip(parameters, limit, *args, **kwargs)

        return clipped

    @fence.fenced("following the clipping of gradients")
    def _note(self, name: str, given: Any, limit: Any, frame: Any) -> None:
        if not self.watcher.governor.is_deep or not self.watcher.listens() or len(self.all) >= _KEPT:
            return
        parameters = [given] if isinstance(given, torch.Tensor) else list(given)
        clip = GradientClip(name, own_place(frame), self.watcher.step, float(limit))
        clip.time, clip.parameters = clocks.perf_counter(), len(parameters)
        gradients = [p.grad for p in parameters if p.grad is not None]
        clip.without_grad = len(parameters) - len(gradients)
        looks = len(self.all) < _LOOKS and not self._backward_has_run()
        clip.empty = bool(parameters) and (not gradients or (looks and _all_zero(gradients)))
        clip.after_step = bool(gradients) and self._has_stepped(parameters)
        self.all.append(clip)

    def _backward_has_run(self) -> bool:
        """Since the last step: gradients that are zero then are what backward gave."""
        steps, backwards = self.watcher.steps.steps, self.watcher.steps.backwards
        last = next((one for one in reversed(backwards) if one.accumulates), None)
        return last is not None and (not steps or last.time > steps[-1].time)

    def _has_stepped(self, parameters: list[Any]) -> bool:
        """Whether the last step of an optimizer that holds these is later than the last backward."""
        backward = next((b for b in reversed(self.watcher.steps.backwards) if b.accumulates), None)
        for step in reversed(self.watcher.steps.steps):
            if backward is not None and step.time < backward.time:
                return False
            if self.watcher.optimizers.of(step.optimizer).holds(self.watcher.module_records.parameter(parameters[0])):
                return True
        return False


def _all_zero(gradients: list[Any]) -> bool:
    with quietly():
        return not any(is_nonzero(gradient) for gradient in gradients)
