"""Follows the calls of `torch.distributed` in which all ranks must join, in the order this one makes them."""

from __future__ import annotations

import zlib
from collections import deque
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from stepscope import fence
from stepscope.common.code_owner import is_own_file
from stepscope.events import Installed, caller
from stepscope.events.quiet import quietly
from stepscope.evidence.collectives import Collective, Collectives
from stepscope.evidence.ranks import Called, Synced
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.collective_calls import described, shape_to_compare
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.observers.rank_facts import spot, world
from stepscope.record.observers.ranks import Returned
from stepscope.records.hang import Call

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward, Step
    from stepscope.record.observers.watcher import Watcher

__all__ = ["CollectiveObserver"]

_NAMES = (
    "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "gather", "scatter", "reduce_scatter",
    "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "barrier", "monitored_barrier", "all_gather_object",
    "gather_object", "broadcast_object_list", "scatter_object_list",
)  # fmt: skip
_KEPT = 200
_RECENT = 32
"""Of as many calls the others can be told, when the ranks do not go on."""


class CollectiveObserver(Observer, Collectives):
    steady = True

    def __init__(self, watcher: Watcher) -> None:
        Collectives.__init__(self)
        super().__init__(watcher)
        self._own = Installed()
        self._inside = 0
        self._after_backward = False
        self._synced: set[tuple[str, bool, str]] = set()
        self._now: Call | None = None
        self._chain = 0
        self._recent: deque[Call] = deque(maxlen=_RECENT)

    @property
    def now(self) -> Call | None:
        """The collective of all ranks that this one is inside of."""
        return self._now

    @property
    def recent(self) -> list[Call]:
        """The last ones, each with a digest of all before it."""
        return list(self._recent)

    def install(self, installed: Installed) -> None:
        if not dist.is_available():
            return
        installed.add(self._own.remove)
        for name in _NAMES:
            self._own.wrap(f"torch.distributed:{name}", partial(self._watched, name))

    def step_aside(self) -> None:
        """The compiler knows these functions by what they are."""
        self._own.remove()

    def _watched(self, name: str, original: Any) -> Any:
        observer = self

        @wraps(original)
        def collective(*args: Any, **kwargs: Any) -> Any:
            if observer._inside or not observer.watcher.listens():
                return original(*args, **kwargs)
            number = observer._call(name, args, kwargs, caller())
            observer._inside += 1
            try:
                result = original(*args, **kwargs)
            finally:
                observer._inside -= 1
                observer._now = None
            observer._return(number)
            return result

        return collective

    def backward_done(self, backward: Backward) -> None:
        self._after_backward = True

    def step_begins(self, step: Step, optimizer: Any) -> None:
        self._after_backward = False

    @fence.fenced("following a collective")
    def _call(self, name: str, args: Any, kwargs: Any, frame: Any) -> int | None:
        self.last_batches = self.watcher.batches
        if world() is None or not _is_of_all((*args, *kwargs.values())):
            return None
        number = self.count
        self.count += 1
        with torch._C.DisableTorchFunction(), torch.no_grad():
            tensors = tensors_in((args, kwargs))
            if tensors and name in ("all_reduce", "broadcast", "reduce", "all_gather"):
                self._tell_what(tensors, described(name, args, kwargs), frame)
            shape = shape_to_compare(name, args, kwargs, tensors)
        name = described(name, args, kwargs)
        self._remember(number, name, shape, tensors, frame)
        if number >= _KEPT:
            return None
        call = Collective(number, name, shape, own_place(frame))
        call.step, call.batches = self.watcher.step, self.watcher.batches
        self.calls.append(call)
        notes = self.watcher.distributed.notes
        if notes is not None:
            self.watcher.distributed.say_rank()
            notes.write(Called(number, name, list(shape), spot(call.place)))
        return number

    def _remember(self, number: int, name: str, compared: tuple[int, ...], tensors: list[Any], frame: Any) -> None:
        shape = tuple(tensors[0].shape) if tensors else ()
        self._chain = zlib.crc32(f"{name}{compared}".encode(), self._chain)
        while frame is not None and not is_own_file(frame.f_code.co_filename):
            frame = frame.f_back
        file, line = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        self._now = Call(number, name, shape, file, line, self._chain)
        self._recent.append(self._now)

    @fence.fenced("following a collective")
    def _return(self, number: int | None) -> None:
        notes = self.watcher.distributed.notes
        if number is not None and notes is not None:
            notes.write(Returned(number))

    def _tell_what(self, tensors: list[Any], call: str, frame: Any) -> None:
        """Are these gradients, or parameters? By where they lie, or by the size of all of them in one piece."""
        if len(self._synced) > _KEPT or self.count > 10 * _KEPT:
            return
        lies_at = {tensor.data_ptr() for tensor in tensors if tensor.layout is torch.strided}
        named = self.watcher.distributed.named_parameters()
        of_grads = [name for name, p in named if p.grad is not None and _pointer(p.grad) in lies_at]
        of_params = [name for name, p in named if _pointer(p) in lies_at]
        whole = sum(p.numel() for _, p in named if p.requires_grad)
        if not of_grads and not of_params and whole > 1 and any(t.numel() == whole for t in tensors):
            self._tell("grads" if self._after_backward else "params", [], call, frame)
        if of_grads:
            self._tell("grads", of_grads, call, frame)
        if of_params:
            self._tell("params", of_params, call, frame)

    def _tell(self, what: str, names: list[str], call: str, frame: Any) -> None:
        key = (what, self.watcher.step > 0, " ".join(names))
        notes = self.watcher.distributed.notes
        self.exchanges_gradients |= what == "grads"
        if key in self._synced:
            return
        self._synced.add(key)
        if notes is not None:
            is_late = what == "grads" and not self._after_backward
            notes.write(Synced(what, self.watcher.step, names, call, spot(own_place(frame)), is_late))


def _pointer(tensor: Any) -> int | None:
    with quietly():
        return int(tensor.data_ptr()) if tensor.layout is torch.strided and tensor.numel() else None


def _is_of_all(values: tuple[Any, ...]) -> bool:
    """Whether the call is over the group of all ranks."""
    groups = [value for value in values if isinstance(value, dist.ProcessGroup)]
    return not groups or groups[0] is dist.group.WORLD or groups[0].size() == dist.get_world_size()
