"""Follows every operation and remembers where each tensor comes from."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from stepscope import events
from stepscope.common import clocks
from stepscope.events.names import Plan
from stepscope.events.patched_names import HANDOVER
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.origins import CONSTANT, HOST, NOISE, PARAMETER, Origin
from stepscope.evidence.tensor_history import Failed, TensorHistory
from stepscope.record.arguments import snapshot, tensors_in
from stepscope.record.identity import is_tensor_type
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.origin import LiveOrigin
from stepscope.record.observers.own_frames import is_own, own_place
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_cpu = clocks.thread_time

_NOISE = frozenset((
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "normal", "normal_", "randperm", "bernoulli",
    "bernoulli_", "uniform_", "exponential_", "cauchy_", "log_normal_", "geometric_", "random_", "multinomial",
    "poisson",
))  # fmt: skip
_HOST = frozenset({"tensor", "from_numpy", "as_tensor", "frombuffer", "asarray", "from_dlpack"})
_PRUNE_AFTER = 4_000
_INSIDE = 500
_VALUES_FAR = 15
"""Steps in which single numbers are read from a device."""


class Call:
    """One op that has just run, with its live tensors. Gone when the callback returns."""

    __slots__ = (
        "args", "direct", "function", "grad", "inputs", "is_users", "kwargs", "name", "origins", "outputs", "place",
        "result", "visit",
    )  # fmt: skip

    def __init__(self, name: str, function: Any, args: Any, kwargs: dict[str, Any], inputs: list[Any]) -> None:
        self.name = name
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.inputs = inputs
        """The tensors among the arguments, in order; `origins` go with them."""
        self.origins: tuple[Origin, ...] = ()
        self.result: Any = None
        self.outputs: list[Any] = []
        self.place: Place | None = None
        self.visit: Visit | None = None
        self.grad = torch.is_grad_enabled()
        self.direct = True
        """The user's own code called it, not a library of theirs or torch itself."""
        self.is_users = True
        """The same, also where it is a Python function of torch, which hands itself over: `F.cross_entropy(x, y)`."""

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        """An argument by position or name."""
        if len(self.args) > place:
            return self.args[place]
        return self.kwargs.get(name, default)


class TensorHistoryObserver(TensorHistory):
    """All origins, and the mode that makes them. `trail.of(tensor)` is what rules and observers ask."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self._watcher = watcher
        self._origins: dict[int, tuple[Any, Origin]] = {}
        self._prune_at = _PRUNE_AFTER
        self._thread = threading.get_ident()
        self._undo: Callable[[], None] | None = None
        self.cost_s = 0.0
        """CPU time of this thread that following them took."""
        self.who, self.under_modes = "following an op", False
        self.paused = 0
        self._all: list[Callable[[Call], None]] = []
        self.failures: list[Callable[[Call, BaseException], None]] = []
        """Who wants to hear of an op that raised."""
        self._by_name: dict[str, list[Callable[[Call], None]]] = {}
        self._before: dict[str, list[Callable[[Call], None]]] = {}

    @property
    def on(self) -> bool:
        return self._undo is not None

    def listen(self, ops: frozenset[str], callback: Callable[[Call], None]) -> None:
        if not ops:
            self._all.append(callback)
        for name in ops:
            self._by_name.setdefault(name, []).append(callback)

    def listen_before(self, ops: frozenset[str], callback: Callable[[Call], None]) -> None:
        for name in ops:
            self._before.setdefault(name, []).append(callback)

    # On and off

    def open(self) -> None:
        if self._undo is None and threading.get_ident() == self._thread:
            self._undo = events.follow(self)

    def close(self) -> None:
        if self._undo is not None and threading.get_ident() == self._thread:
            self._undo()
            self._undo = None

    @contextmanager
    def pause(self) -> Iterator[None]:
        self.paused += 1
        try:
            yield
        finally:
            self.paused -= 1

    # What is known

    def of(self, tensor: Any) -> Origin:
        """Where this tensor comes from."""
        found = self._origins.get(id(tensor))
        if found is None or found[0]() is not tensor:
            return self._outside(tensor)
        origin = found[1]
        if origin.requires_grad or not tensor.requires_grad or (not tensor._is_view() and tensor.is_leaf):
            return origin
        return self._of_custom_function(tensor, origin)

    def known(self, tensor: Any) -> Origin | None:
        found = self._origins.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def every(self) -> list[Origin]:
        """Of all tensors that are known now."""
        return [origin for _, origin in self._origins.values()]

    def note(self, tensor: Any, origin: Origin) -> None:
        self._origins[id(tensor)] = (weakref.ref(tensor), origin)
        if len(self._origins) > self._prune_at:
            self._prune()

    def _outside(self, tensor: Any) -> Origin:
        origin = LiveOrigin("", tensor, (), None)
        if isinstance(tensor, torch.nn.Parameter) or (
            tensor.requires_grad and not tensor._is_view() and tensor.is_leaf
        ):
            origin.kind, origin.tags = "parameter", PARAMETER
        elif tensor.requires_grad:  # a custom function or scripted code has made it, from parameters
            origin.op, origin.tags = f"unseen:{_maker(tensor)}", PARAMETER
        self.note(tensor, origin)
        return origin

    def _of_custom_function(self, tensor: Any, inside: Origin) -> Origin:
        """The ops of its `forward` run without gradients: only what it returns gets one, after the last of them."""
        given = [one for one in inside.ancestors(_INSIDE, through=_is_inside) if not _is_inside(one)]
        origin = LiveOrigin(f"unseen:{_maker(tensor)}", tensor, tuple(given), inside.place)
        origin.visit, origin.step, origin.index, origin.value = inside.visit, inside.step, inside.index, inside.value
        origin.tags |= inside.tags
        self.note(tensor, origin)
        return origin

    def _prune(self) -> None:
        self._origins = {key: found for key, found in self._origins.items() if found[0]() is not None}
        self._prune_at = max(_PRUNE_AFTER, 2 * len(self._origins))

    # One op

    def begin(self, plan: Plan, function: Any, args: Any, kwargs: Any, frame: Any) -> Call | None:
        clock = _cpu()
        if self._watcher.governor.charge("op"):
            self._watcher.tire()
            if self.paused:
                return None
        inputs: list[Any] = []
        frozen = snapshot(function, args, kwargs, inputs)
        call = Call(plan[1], function, args, kwargs or {}, inputs)
        call.origins = tuple([self.of(tensor) for tensor in inputs])
        call.direct = is_own(frame.f_code)
        call.is_users = call.direct or _is_handed_over_by_user(frame)
        call.place = own_place(frame)
        call.visit = self._watcher.visits.innermost
        call.result = frozen
        if call.name in self._before:
            for callback in self._before[call.name]:
                callback(call)
        self.cost_s += _cpu() - clock
        return call

    def end(self, call: Call, result: Any) -> None:
        clock = _cpu()
        grad = torch.is_grad_enabled()
        if grad:
            torch._C._set_grad_enabled(False)
        try:
            self._note_result(call, result)
        finally:
            if grad:
                torch._C._set_grad_enabled(True)
            spent = _cpu() - clock
            self.cost_s += spent
            self._watcher.governor.spent(spent)

    def _note_result(self, call: Call, result: Any) -> None:
        frozen, call.result = call.result, result
        kind = type(result)
        outputs = [result] if kind is torch.Tensor or is_tensor_type(kind) else tensors_in(result)
        call.outputs = outputs
        self.ops += 1
        step, grad = self._watcher.step, call.grad
        for number, tensor in enumerate(outputs):
            known = self.known(tensor)
            if known is not None and known.kind in ("parameter", "buffer"):
                continue  # written in place, or handed through: it stays what it is
            origin = LiveOrigin(call.name, tensor, call.origins, call.place)
            origin.output = number
            origin.snapshot, origin.visit, origin.step, origin.grad, origin.index = (
                frozen,
                call.visit,
                step,
                grad,
                self.ops,
            )
            if not origin.shape and type(tensor) is torch.Tensor:
                origin.value = _value(tensor, step)
            if isinstance(tensor, torch.nn.Parameter):
                origin.kind, origin.tags = "parameter", origin.tags | PARAMETER
            elif (
                tensor.requires_grad and not tensor._is_view() and tensor.is_leaf
            ):  # `torch.zeros(3, requires_grad=True)`
                origin.tags |= PARAMETER
            if not call.origins or call.name in _NOISE:
                origin.tags |= _tag(call.name)
            self.note(tensor, origin)
        for callback in (*self._by_name.get(call.name, ()), *self._all):
            callback(call)

    def fail(self, call: Call, error: BaseException) -> None:
        said = f"{type(error).__name__}: {error}"
        self.failed = Failed(call.name, call.place, call.origins, call.visit, said)
        with torch.no_grad():
            for callback in self.failures:
                callback(call, error)


def _is_handed_over_by_user(frame: Any) -> bool:
    body = frame.f_back if frame.f_code is HANDOVER else None
    return body is not None and body.f_back is not None and is_own(body.f_back.f_code)


def _is_inside(origin: Origin) -> bool:
    return bool(origin.op) and not origin.grad and not origin.requires_grad


def _maker(tensor: Any) -> str:
    # Asking a view for its node can raise, where torch forbids what was done to its base.
    return "view" if tensor._is_view() else type(tensor.grad_fn).__name__


def _value(tensor: Any, step: int) -> float | None:
    if not tensor.is_floating_point() or is_transformed(tensor):
        return None
    if tensor.device.type == "cpu":
        return float(raw.item(tensor))
    return float(raw.item(here(tensor))) if step < _VALUES_FAR and can_fetch(tensor) else None


def _tag(name: str) -> int:
    if name in _NOISE:
        return NOISE
    return HOST if name in _HOST else CONSTANT
