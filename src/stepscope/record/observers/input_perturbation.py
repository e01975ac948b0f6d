"""Tries what a model does with altered input, in a fork beside the training.

Once for each model, right before a backward: does the answer for one sample depend on the others in the batch? Does the
answer for one step of a sequence depend on the steps after it? The fork has the model and the batch as they are, and
takes every trace of the trial with it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common import clocks
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.input_perturbation import InputPerturbations, Perturbation
from stepscope.record.arguments import tensors_in
from stepscope.record.identity import is_tensor_type
from stepscope.record.observers.batch_positions import placed
from stepscope.record.observers.fork_probe import can_fork, in_a_fork
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.padding_trials import padded
from stepscope.record.observers.sequences import can_keep

if TYPE_CHECKING:
    from stepscope.evidence.sequences import NextStep
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

_SLOWEST_S = 0.6
"""CPU seconds of one call: the trial needs several, and the training waits for it."""
_SECONDS = 3.0
_LARGEST = 200_000_000
_TRIES = 2
_ALONE = 1e-6
"""Samples that change each other's answers by no more than this do not see each other."""
_TRAINED = 2
"""Calls of a model before it is tried: the first may set things up."""


class InputPerturbationObserver(Observer, InputPerturbations):
    def __init__(self, watcher: Watcher) -> None:
        InputPerturbations.__init__(self)
        super().__init__(watcher)
        self._kept: list[tuple[Any, Visit, Any, Any]] = []
        self._calls: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._tried: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not visit.grad or not self.watcher.tensor_history.on or self._tried.get(module, 0) >= _TRIES:
            return
        if clocks.perf_counter() - visit.time > _SECONDS or next(module.parameters(), None) is None:
            return
        calls = self._calls[module] = self._calls.get(module, 0) + 1
        if calls >= _TRAINED:
            others = [kept for kept in self._kept if kept[0]() is not module]
            self._kept = [*others[-2:], (weakref.ref(module), visit, args, kwargs)]

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        kept, self._kept = self._kept, []
        for ref, visit, args, kwargs in kept:
            module = ref()
            times = 0 if module is None else self._tried.get(module, 0)
            ahead = self.next_step(visit)
            if module is None or not _is_fit(module, args, kwargs) or (times and ahead is None):
                continue
            self._tried[module] = times + (2 if ahead is not None else 1)
            if not can_fork():
                continue
            answer = in_a_fork(lambda: tried(module, args, kwargs, ahead), _SECONDS)  # noqa: B023
            if answer is not None:
                self.all.append(Perturbation(visit, answer))
                self.watcher.batch_positions.tried(visit, answer.get("placed"))
                self.watcher.padding_trials.tried(visit, answer.get("padded"))

    def next_step(self, visit: Visit) -> NextStep | None:
        """The loss of this call whose target is the next step of its input."""
        found = self.watcher.sequences.next_steps
        return next((one for one in reversed(found) if one.visit is visit), None)


def _is_fit(module: Any, args: Any, kwargs: Any) -> bool:
    tensors = tensors_in((args, kwargs))
    on_cpu = all(tensor.device.type == "cpu" for tensor in (*tensors, *module.parameters()))
    return bool(tensors) and on_cpu and sum(p.numel() for p in module.parameters()) <= _LARGEST


def tried(module: Any, args: Any, kwargs: Any, ahead: NextStep | None, slowest_s: float = _SLOWEST_S) -> dict[str, Any]:
    """What the model does with altered input. It is left in evaluation mode: only for a fork, or for a copy."""
    module.eval()
    with torch.no_grad(), _no_fast_path():
        began = clocks.process_time()
        first = _answers(module, args, kwargs)
        if clocks.process_time() - began > slowest_s:
            return {"why": "one call of the model takes too long"}
        again = _answers(module, args, kwargs)
        if len(first) != len(again) or not all(_same(a, b) for a, b in zip(first, again, strict=True)):
            return {"why": "two answers to the same input differ"}
        found = _mixing(module, args, kwargs, first)
        found["padded"] = padded((args, kwargs), lambda given: _answers(module, *given))
        if ahead is not None:
            found |= _leaks(module, args, kwargs, first, ahead)
    return found


@contextmanager
def _no_fast_path() -> Iterator[None]:
    """Torch's fused attention drops padded rows, so that answers have other shapes."""
    switches: Any = getattr(torch.backends, "mha", None)
    if switches is None or not hasattr(switches, "set_fastpath_enabled"):
        yield
        return
    before = switches.get_fastpath_enabled()
    switches.set_fastpath_enabled(False)
    try:
        yield
    finally:
        switches.set_fastpath_enabled(before)


def _answers(module: Any, args: Any, kwargs: Any) -> list[Any]:
    torch.manual_seed(0)
    result = module(*args, **kwargs)
    return [raw.clone(raw.detach(tensor)) for tensor in tensors_in(result) if tensor.is_floating_point()]


def _same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool(raw.equal(one.nan_to_num(), other.nan_to_num()))


def _mixing(module: Any, args: Any, kwargs: Any, first: list[Any]) -> dict[str, Any]:
    """Replace one sample by its neighbor and see whether the answers for the others change; if not, move them all."""
    rows = next((t.shape[0] for t in tensors_in((args, kwargs)) if t.dim()), 0)
    if rows < 3 or not any(one.dim() and one.shape[0] == rows for one in first):
        return {}

    def replaced(tensor: Any) -> Any:
        if not tensor.dim() or tensor.shape[0] != rows:
            return tensor
        tensor = raw.clone(raw.detach(tensor))
        tensor[0] = tensor[1]
        return tensor

    now = _answers(module, *_mapped((args, kwargs), replaced))
    change = 0.0
    for before, after in zip(first, now, strict=False):
        if before.shape == after.shape and before.dim() and before.shape[0] == rows:
            change = max(change, _change(before[2:], after[2:]))
    found = {"mixing": change, "rows": rows}
    if change <= _ALONE:
        moved = _mapped((args, kwargs), lambda one: one.roll(1, 0) if one.dim() and one.shape[0] == rows else one)
        found["placed"] = placed(module, (args, kwargs), moved, rows)
    return found


def _leaks(module: Any, args: Any, kwargs: Any, first: list[Any], ahead: NextStep) -> dict[str, Any]:
    """Alter the last step of the input and see which earlier answers change."""
    kept = [tensor for tensor in tensors_in((args, kwargs)) if can_keep(tensor)]
    if ahead.argument >= len(kept):
        return {}
    chosen, axis, length = kept[ahead.argument], ahead.axis, ahead.length

    def altered(tensor: Any) -> Any:
        if tensor is not chosen:
            return tensor
        tensor = raw.clone(raw.detach(tensor))
        last = tensor.select(axis, -1)
        one, other = tensor.min(), tensor.max()
        last.copy_(raw.where(last == one, other, one))
        return tensor

    now = _answers(module, *_mapped((args, kwargs), altered))
    batch = chosen.shape[1 - axis]
    for before, after in zip(first, now, strict=False):
        pair = _by_steps(before, batch, length, axis), _by_steps(after, batch, length, axis)
        if pair[0] is not None and pair[1] is not None:
            return {"leaks": [s for s in range(length - 1) if _change(pair[0][s], pair[1][s]) > 1e-4], "length": length}
    return {}


def _by_steps(answer: Any, batch: int, length: int, axis: int) -> Any:
    """An answer with its steps as the first axis."""
    if answer.dim() >= 2 and answer.shape[axis] == length:
        return answer.movedim(axis, 0)
    if answer.dim() >= 3 and answer.shape[-1] == length:
        return answer.movedim(-1, 0)
    if answer.dim() == 2 and answer.shape[0] == batch * length:
        shape = (batch, length, -1) if axis == 1 else (length, batch, -1)
        return answer.reshape(shape).movedim(axis, 0)
    return None


def _change(before: Any, after: Any) -> float:
    if not before.numel():
        return 0.0
    scale = float(raw.item(before.nan_to_num().abs().max())) or 1.0
    return float(raw.item((before - after).nan_to_num().abs().max())) / scale


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same nested arguments with each tensor changed."""
    if is_tensor_type(type(value)):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(item, change) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, change) for key, item in value.items()}
    return value
