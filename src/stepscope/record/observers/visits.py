"""Visits: which module is running. Calls of root modules are always seen, those inside them while looking closely."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.loss import _Loss

from stepscope.common import clocks
from stepscope.events.hub import source_of
from stepscope.events.source import only_noted
from stepscope.evidence.origins import OUTPUT
from stepscope.evidence.visits import Visit, Visits
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.module_walk import parts_of
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from stepscope.events.modules import ModuleCall
    from stepscope.evidence.modules import Module
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["VisitObserver"]

_MOST_CLASSES = 64


class VisitObserver(Visits):
    """The stack of running modules, the recent root visits, and the visits of the latest watched root call."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self._watcher = watcher
        self.stack: list[Visit] = []
        self.evaluated_at = -1
        """How many backwards had run when a model was last called without gradients."""
        self._evaluated_closely: Place | None = None
        """Where a model was called without gradients before anything was trained, while it was looked at closely."""
        self._alike: Counter[Any] = Counter()
        """Calls without gradients before anything was trained, by the window and by what tells them apart."""
        self._models: Any = source_of("model_begins")
        self._paths: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._classes: set[str] = set()
        """Names of those of models that were watched in detail."""
        self.known: set[type] = set()
        """Classes of models that are called in training: of those there is no news."""

    @property
    def innermost(self) -> Visit | None:
        return self.stack[-1] if self.stack else None

    def _is_known_evaluation(self, module: Any) -> bool:
        """Whether this is one more call of an evaluation or a generation that continues; a loss is always new."""
        now = self._watcher.steps.backward_count
        known, self.evaluated_at = self.evaluated_at == now, now
        return known and not isinstance(module, _Loss)

    def _is_new_class(self, module: Any) -> bool:
        """The script calls a model of a class that was never looked at: whether it is looked at now."""
        name = type(module).__qualname__
        self._classes.add(name)
        self._watcher.governor.new(f"the first call of {name}", name)
        return self._watcher.governor.is_deep

    def training_goes_on(self) -> None:
        """A backward begins: the evaluation is over."""
        self._models.rest_without_grad(None)

    # Root modules

    def model_begins(self, call: ModuleCall) -> None:
        watcher = self._watcher
        if watcher.muted or watcher.steps.running is not None:  # in backward a checkpoint runs its modules again
            return
        if not watcher.governor.is_deep:
            if torch.is_grad_enabled():
                if type(call.module).__qualname__ in self._classes or not self._is_new_class(call.module):
                    if len(self.known) < _MOST_CLASSES:
                        self.known.add(type(call.module))
                    if watcher.on_call is not None:
                        watcher.on_call(call)
                    return
            elif self._is_known_evaluation(call.module):
                if not isinstance(call.module, _Loss):
                    self._models.rest_without_grad(_Loss)
                return
            elif not isinstance(call.module, _Loss) and own_place(call.frame) != self._evaluated_closely:
                watcher.governor.new("an evaluation", own_place(call.frame))
        module, place = watcher.module_records.of(call.module), own_place(call.frame)
        visit = _visit(module, call.module.training, None, watcher.trainer.place(place))
        visit.step, visit.index, visit.batch = watcher.step, self.count, watcher.batches
        self.count += 1
        call.notes["visit"] = visit
        if watcher.governor.is_deep:
            if not visit.grad and not watcher.governor.is_training:
                self._evaluated_closely = place
            watcher.governor.charge("model")
            self._classes.add(type(call.module).__qualname__)
            self.roots.append(visit)
            self.latest = [visit]
            with torch._C.DisableTorchFunction():
                self._describe(visit, call.args, call.kwargs)
                self._name_tree(call.module)
        else:
            self.roots.append(visit)
        # A hook of Stepscope's may run models too; those are not the user's calls.
        watcher.tell("root_begins", visit, call.module, call.args, call.kwargs)
        self.stack.append(visit)

    @only_noted
    def model_ends(self, call: ModuleCall) -> None:
        visit = call.notes.get("visit")
        if visit is None:
            return
        self.stack.clear()
        watcher = self._watcher
        if call.error is not None:
            visit.error = True
            return
        if watcher.governor.is_deep:
            with torch._C.DisableTorchFunction():
                self._describe_result(visit, call.result)
                for origin in visit.outputs:
                    origin.tags |= OUTPUT
        watcher.tell("root_done", visit, call.module, call.args, call.kwargs, call.result)
        watcher.governor.at_rest()
        if not visit.grad and watcher.governor.is_deep and not watcher.governor.is_training:
            window = len(watcher.governor.windows)
            way = window, visit.module.number, visit.place, visit.training, *visit.shapes_in
            self._alike[way] += 1
            watcher.governor.saw_alike(self._alike[way])

    # Modules inside them

    def module_begins(self, call: ModuleCall) -> None:
        if call.parent is None or not self.stack:
            return
        self._watcher.governor.charge("module")
        parent = self.stack[-1]
        visit = _visit(
            self._watcher.module_records.of(call.module), call.module.training, parent, own_place(call.frame)
        )
        visit.step, visit.batch = parent.step, parent.batch
        visit.path = self._paths.get(call.module, "")
        with torch._C.DisableTorchFunction():
            self._describe(visit, call.args, {})
        call.notes["visit"] = visit
        self.stack.append(visit)
        self.latest.append(visit)

    def module_ends(self, call: ModuleCall) -> None:
        visit = call.notes.get("visit")
        if visit is None or call.parent is None or visit not in self.stack:
            return
        while self.stack and self.stack.pop() is not visit:
            pass
        if call.error is not None:
            visit.error = True
            return
        with torch._C.DisableTorchFunction():
            self._describe_result(visit, call.result)
        self._watcher.tell("module_done", visit, call.module, call.args, call.kwargs, call.result)

    def _name_tree(self, root: Any) -> None:
        if root in self._paths:
            return
        for path, module in parts_of(root):
            self._paths[module] = path

    def _describe(self, visit: Visit, args: Any, kwargs: Any) -> None:
        tensors = tensors_in((args, kwargs)) if kwargs else tensors_in(args)
        visit.inputs = tuple(map(self._watcher.tensor_history.of, tensors))
        visit.shapes_in = [tuple(tensor.shape) for tensor in tensors]

    def _describe_result(self, visit: Visit, result: Any) -> None:
        tensors = tensors_in(result)
        visit.outputs = tuple(map(self._watcher.tensor_history.of, tensors))
        visit.shapes_out = [tuple(tensor.shape) for tensor in tensors]


def _visit(module: Module, training: bool, parent: Visit | None, place: Place | None) -> Visit:
    visit = Visit(module, training, parent, place)
    visit.grad, visit.time = torch.is_grad_enabled(), clocks.perf_counter()
    return visit
