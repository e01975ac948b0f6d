"""Follows what of earlier steps is still there: graphs that a running total drags along, tensors in lists, hooks."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from stepscope.evidence.retained_graphs import RetainedGraphs
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.module_walk import parts_of
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.records.place import Place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_WATCHED = 400
_TOTALS = frozenset({"add", "add_", "sum", "stack", "cat", "mul", "div", "sub", "rsub", "lerp"})
_LOSSES = frozenset({
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "mean",
})  # fmt: skip
_REGISTRARS = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_backward_hook",
)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class RetainedGraphObserver(Observer, RetainedGraphs):
    ops = _TOTALS | _LOSSES

    def __init__(self, watcher: Watcher) -> None:
        RetainedGraphs.__init__(self)
        super().__init__(watcher)
        self._held: list[tuple[int, Any]] = []
        self._made: set[int] = set()
        self._lines: dict[Place, tuple[str, int]] = {}

    def install(self, installed: Installed) -> None:
        for name in _REGISTRARS:
            installed.after(f"torch.nn:Module.{name}", "following hooks", self._note)

    def _note(self, frame: Any, handle: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            place = own_place(frame)
            if place is not None:
                self.registered[place] = self.registered.get(place, 0) + 1

    def op(self, call: Call) -> None:
        now = self.watcher.step
        if call.place is None or not call.outputs or not call.outputs[0].requires_grad:
            return
        if call.name in _LOSSES and isinstance(call.result, torch.Tensor) and call.result.dim() == 0:
            self._hold(call.result)  # a trainer may divide it, so that backward is called on another tensor
        if call.name not in _TOTALS:
            return  # a trainer on one line of the script takes the mean of the last step's loss after that step
        old = [o for o in call.origins if o.kind == "op" and o.step < now and o.requires_grad and o.place is not None]
        # What this very line has made in an earlier step comes back into it: a total that grows.
        if any(self._line(o.place) == self._line(call.place) for o in old):
            steps = self.dragged.setdefault(call.place, set())
            if len(steps) < _WATCHED:
                steps.add(now)

    def _line(self, place: Place | None) -> tuple[str, int]:
        if place is None:
            return "", 0
        known = self._lines.get(place)
        if known is None:
            site = place.site
            known = self._lines[place] = (site.file, site.line)
        return known

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        for tensor in tensors_in(result)[:2]:
            self._hold(tensor)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        for root in roots[:1]:
            if isinstance(root, torch.Tensor):
                self._hold(root)

    def _hold(self, tensor: Any) -> None:
        if tensor.grad_fn is not None and len(self._held) < _WATCHED:
            self._held.append((self.watcher.step, weakref.ref(tensor)))
            self._made.add(self.watcher.step)

    def step_done(self, step: Step, optimizer: Any) -> None:
        now = self.watcher.step
        if now > _WATCHED:
            return
        self._held = [(made, ref) for made, ref in self._held if (t := ref()) is not None and t.grad_fn is not None]
        self.looked = sum(made < now - 1 for made in self._made)
        self.alive.append(len({made for made, _ in self._held if made < now - 1}))
        if now <= 60:
            self.hooks.append(self._count_hooks())

    def _count_hooks(self) -> int:
        roots = (model.live() for model in self.watcher.models.roots)
        modules = (part for root in roots if root is not None for _, part in parts_of(root))
        return sum(len(getattr(module, name)) for module in modules for name in _HOOKS)
