"""Follows every `backward()`, every optimizer's step, and whether gradients were cleared between them."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common import clocks
from stepscope.events.operations import stand_down, stand_up
from stepscope.events.optimizers import closure_in
from stepscope.events.quiet import quietly
from stepscope.events.same_step import SameStep
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.steps import Backward, Step, Steps
from stepscope.record.observers.fetch import can_fetch, here, is_far
from stepscope.record.observers.gradients import forget
from stepscope.record.observers.nonzero import are_nonzero, is_nonzero
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_SAMPLE = 3
_LIGHTLY, _SELDOM, _MANY = 4, 16, 1000
"""Of the backwards that are not watched in detail, every fourth is noted with its loss; after many, every sixteenth."""
_LOSSES_FAR = 45
"""Backwards whose loss is read from a device."""


class _Watched:
    """What is remembered of an optimizer between two of its steps."""

    def __init__(self) -> None:
        self.backwards: list[Backward] = []
        self.sample: list[tuple[Any, Any, int]] = []
        """Parameters with a gradient after the last step, weakly: (parameter, gradient, version of the gradient)."""
        self.cleared = True
        self.checks = 0
        self.before: list[tuple[Any, Any]] = []
        self.stale_norm: float | None = None
        self.own_norm: float | None = None
        self.zeroed = 0
        self.unused = 0
        """Backwards since the gradients were last cleared."""
        self.thrown_away = 0
        self.order: tuple[list[int], list[int]] = ([], [])
        """The ids of its parameters, and their places from the smallest to the largest."""


class StepObserver(Observer, Steps):
    def __init__(self, watcher: Watcher) -> None:
        Steps.__init__(self)
        super().__init__(watcher)
        self._watched: weakref.WeakKeyDictionary[Any, _Watched] = weakref.WeakKeyDictionary()
        self.running: Backward | None = None
        """The backward that is running, if it was noted."""
        self._inside = 0
        self._same_step = SameStep()
        self._open: list[tuple[Any, Step | None]] = []

    def _place(self, frame: Any) -> Place | None:
        return self.watcher.trainer.place(own_place(frame))

    # Backward

    def backward_begins(self, roots: Any, args: Any, kwargs: Any, frame: Any) -> None:
        """The engine starts: what the loss is, and whether the gradients are still those of the step before."""
        if self.watcher.muted:
            return
        governor, number = self.watcher.governor, self.backward_count
        is_usual = number % (_LIGHTLY if number < _MANY else _SELDOM) and self.watcher.visits.evaluated_at != number
        if is_usual and not governor.is_deep and governor.is_training:
            self.backward_count += 1
            return
        if self.watcher.visits.evaluated_at == number:
            self.watcher.visits.training_goes_on()
        backward = Backward(self.backward_count, self.watcher.step, self._place(frame), clocks.perf_counter())
        self.backward_count += 1
        tensors = list(roots) if isinstance(roots, (list, tuple)) else [roots]
        backward.accumulates = bool(kwargs.get("accumulate_grad", True))
        backward.retain_graph = bool(args[1]) if len(args) > 1 else False
        backward.create_graph = bool(args[2]) if len(args) > 2 else False
        if backward.accumulates and not governor.is_training:
            governor.trains()
        with quietly():
            self._look_at_loss(backward, tensors[0])
            if backward.loss is not None and not math.isfinite(backward.loss):
                governor.alarm("the loss is not finite")
            if governor.is_deep and backward.accumulates:
                governor.charge("backward")
                self._look_at_gradients(backward)
        self.backwards.append(backward)
        self.running = backward
        self.watcher.tell("backward", backward, tensors)

    def backward_ends(self, error: BaseException | None) -> None:
        """Gradients are there, unless it raised."""
        backward, self.running = self.running, None
        if backward is None or error is not None:
            return
        if self.watcher.governor.is_deep:
            forget()
            self._compare_gradients(backward)
        self.watcher.tell("backward_done", backward)

    def _look_at_loss(self, backward: Backward, loss: Any) -> None:
        if not isinstance(loss, torch.Tensor):
            return
        backward.shape, backward.leaf, backward.requires_grad = tuple(loss.shape), loss.is_leaf, loss.requires_grad
        backward.origin = self.watcher.tensor_history.known(loss)
        backward.far = is_far(loss)
        if loss.numel() != 1 or is_transformed(loss) or (backward.far and backward.index >= _LOSSES_FAR):
            return
        if can_fetch(loss):
            backward.loss = float(raw.item(here(loss)))

    def _look_at_gradients(self, backward: Backward) -> None:
        """Of each optimizer: are the gradients those its last step has used, untouched?"""
        for watched in list(self._watched.values()):
            watched.backwards.append(backward)
            watched.unused += 1
            if watched.cleared or not watched.sample:
                continue
            if not all(self._untouched(*known, look=watched.checks < 8) for known in watched.sample):
                watched.cleared = True
                watched.sample = []
                continue
            kept = [(p, gradient) for p, g, _ in watched.sample if (gradient := g()) is not None]
            if not watched.before and watched.checks < 8 and all(can_fetch(g) for _, g in kept):
                watched.checks += 1
                watched.before = [(p, raw.clone(raw.detach(g))) for p, g in kept]
                watched.stale_norm = _norm([g for _, g in watched.before])

    def _untouched(self, parameter: Any, gradient: Any, version: int, look: bool) -> bool:
        now = parameter().grad if parameter() is not None else None
        if now is None or now is not gradient():
            return False
        if now._version != version or is_transformed(now):
            return False
        # `p.grad.data.zero_()` leaves no trace but the zeros. Asking a device waits for it, so only a few times.
        return bool(raw.item(raw.detach(now).ne(0).any())) if look and can_fetch(now) else True

    def _compare_gradients(self, backward: Backward) -> None:
        for watched in list(self._watched.values()):
            if watched.before and watched.own_norm is None:
                with quietly():
                    pairs = [(p(), g) for p, g in watched.before]
                    watched.own_norm = _norm([p.grad - g for p, g in pairs if p is not None and p.grad is not None])
        if backward.accumulates:
            with quietly():
                for watched in self._watched.values():
                    watched.sample = [(p, g, _version(p, g, v)) for p, g, v in watched.sample]

    # Optimizers

    def made(self, optimizer: Any) -> None:
        """A new optimizer: watch its gradients from now on."""
        self._watched[optimizer] = _Watched()

    def cleared(self, optimizer: Any) -> None:
        """`zero_grad` of this optimizer, or of a module whose parameters it holds, was called."""
        watched = self._watched.get(optimizer)
        if watched is not None:
            watched.cleared = True
            watched.zeroed += 1
            watched.thrown_away += 0 if self._inside else watched.unused  # inside a step it is a closure's business
            watched.unused = 0

    def resume(self) -> None:
        """Steps in between were not looked at: nothing is known of the gradients now."""
        for optimizer, watched in list(self._watched.items()):
            fresh = self._watched[optimizer] = _Watched()
            fresh.checks, fresh.order = watched.checks, watched.order

    def begins(self, optimizer: Any, args: Any, kwargs: Any, frame: Any) -> None:
        """An optimizer is about to step."""
        watcher = self.watcher
        if watcher.muted:
            return
        if self._open and self._open[-1][0] is optimizer:  # its step before was raised out of
            self._abandon()
        self._inside += 1
        if not watcher.governor.is_deep:
            watcher.tensor_history.paused += 1
            self._open.append((optimizer, None))
            return
        self._stand(down=True)
        number = self.watcher.optimizers.number_of(optimizer)
        index = self.step_count - self._same_step.continues(optimizer, self.backward_count)
        step = Step(index, number, self._place(frame), clocks.perf_counter())
        self._open.append((optimizer, step))
        if closure_in(args, kwargs) is None:
            self._look(step, optimizer)

    def _look(self, step: Step, optimizer: Any) -> None:
        """Gradients are there, the weights are still as they were."""
        with quietly():
            step.lr = _number(optimizer.param_groups[0].get("lr")) if optimizer.param_groups else None
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            step.without_grad = sum([p.grad is None for p in parameters])
        step.empty = step.without_grad == len(parameters) or (step.index < 12 and self._all_zero(parameters))
        root = self.watcher.visits.roots[-1] if self.watcher.visits.roots else None
        last = self.backwards[-1] if self.backwards else None
        step.lagging = root is not None and root.grad and (last is None or root.time > last.time)
        step.looked = True
        self.watcher.tell("step_begins", step, optimizer)

    def _stand(self, *, down: bool) -> None:
        """An optimizer's own operations are not followed; what its closure calls is."""
        self.watcher.tensor_history.paused += 1 if down else -1
        if not self.watcher.governor.is_deep:
            return
        if down:
            stand_down()
        elif not self.watcher.tensor_history.paused:
            stand_up()

    def _abandon(self) -> None:
        self._open.pop()
        self._inside -= 1
        self._stand(down=False)

    def closure_begins(self, optimizer: Any) -> None:
        """A step with a closure (LBFGS, Lightning): forward and backward run inside it, and are followed there."""
        if self._open and self._open[-1][0] is optimizer:
            self._stand(down=False)

    def closure_ends(self, optimizer: Any, error: BaseException | None) -> None:
        if not self._open or self._open[-1][0] is not optimizer:
            return
        step = self._open[-1][1]
        if error is not None:  # the step is raised out of
            self._stand(down=True)
            self._abandon()
            return
        self._stand(down=True)
        if step is not None and not step.looked:
            self._look(step, optimizer)

    def _all_zero(self, parameters: list[Any]) -> bool:
        with quietly():
            gradients = [p.grad for p in parameters if p.grad is not None]
            if not gradients or is_nonzero(gradients[-1]):  # usually
                return False
            return not any(are_nonzero(gradients))

    def ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """It has stepped."""
        if not self._open or self._open[-1][0] is not optimizer:
            return
        _, step = self._open.pop()
        self._inside -= 1
        is_new = self._same_step.updated(optimizer, self.backward_count)
        if is_new and step is not None:  # gradients may have come from its closure
            step.index = self.step_count
        self.step_count += is_new
        if step is None and not self.watcher.governor.is_deep:
            self.watcher.tensor_history.paused -= 1
        else:
            self._stand(down=False)
        if step is None:
            last, number = self.watcher.optimizers.last
            if last is None or last() is not optimizer:
                number = self.watcher.optimizers.number_of(optimizer)
            self.counts[number] = self.counts.get(number, 0) + 1
            self.watcher.stepped(None, optimizer, is_new)
            return
        if not step.looked:  # a closure that was never called
            self._look(step, optimizer)
        self._finish(step, optimizer)
        self.counts[step.optimizer] = self.counts.get(step.optimizer, 0) + 1
        self.steps.append(step)
        self.watcher.governor.charge("step")
        self.watcher.stepped(step, optimizer, is_new)

    def _finish(self, step: Step, optimizer: Any) -> None:
        watched = self._watched[optimizer]
        step.backwards, step.zeroed, step.thrown_away = watched.backwards, watched.zeroed, watched.thrown_away
        step.stale = bool(watched.sample) and not watched.cleared and bool(watched.backwards)
        step.stale_norm, step.own_norm = watched.stale_norm, watched.own_norm
        fresh = _Watched()
        fresh.checks = watched.checks
        fresh.order = watched.order
        with quietly():
            fresh.sample = _sample(optimizer, fresh)
        fresh.cleared = False
        self._watched[optimizer] = fresh


def _sample(optimizer: Any, watched: _Watched) -> list[tuple[Any, Any, int]]:
    """A few of its parameters that have a gradient: the smallest, which are cheapest to look at."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    ids = list(map(id, parameters))
    if watched.order[0] != ids:
        watched.order = ids, sorted(range(len(ids)), key=lambda i: int(parameters[i].numel()))
    found: list[tuple[Any, Any, int]] = []
    for i in watched.order[1]:
        gradient = parameters[i].grad
        if gradient is not None and gradient.layout is torch.strided:
            found.append((weakref.ref(parameters[i]), weakref.ref(gradient), gradient._version))
            if len(found) == _SAMPLE:
                break
    return found


def _version(parameter: Any, gradient: Any, version: int) -> int:
    alive = parameter()
    now = None if alive is None else alive.grad
    return now._version if now is not None and now is gradient() else version


def _norm(tensors: list[Any]) -> float | None:
    if not tensors:
        return None
    return math.sqrt(sum(float(raw.item(raw.double(raw.detach(t)).square().sum())) for t in tensors))


def _number(value: Any) -> float | None:
    if isinstance(value, torch.Tensor) and value.device.type != "cpu":
        return None  # asking would wait for the device
    return float(value) if isinstance(value, (int, float, torch.Tensor)) else None
