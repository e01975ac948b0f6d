"""The trail: one torch-function mode that remembers where every tensor comes from."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.overrides
from torch.overrides import TorchFunctionMode

from stepscope import fence
from stepscope.events.names import PASS, Plan, plan_for
from stepscope.record.arguments import Snapshot, snapshot, tensors_in
from stepscope.record.function_modes import take_off
from stepscope.record.identity import is_tensor_type
from stepscope.record.statistics import is_transformed
from stepscope.record.watch.fetch import can_fetch, here, own_time
from stepscope.record.watch.origin import CONSTANT, HOST, NOISE, PARAMETER, Origin
from stepscope.record.watch.places import is_own, own_place

if TYPE_CHECKING:
    from stepscope.record.sites import Place
    from stepscope.record.watch.visits import Visit
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Call", "Failed", "Trail"]

_disabled = torch._C.DisableTorchFunction
_NOISE = frozenset((
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "normal", "normal_", "randperm", "bernoulli",
    "bernoulli_", "uniform_", "exponential_", "cauchy_", "log_normal_", "geometric_", "random_", "multinomial",
    "poisson",
))  # fmt: skip
_HOST = frozenset({"tensor", "from_numpy", "as_tensor", "frombuffer", "asarray", "from_dlpack"})
_PRUNE_AFTER = 20_000
_ALLOWANCE_S = 0.7
_SHARE = 0.005
_VALUES_FAR = 15
"""Steps in which single numbers are read from a device."""


class Call:
    """One op that has just run, with its live tensors. Gone when the callback returns."""

    __slots__ = (
        "args", "direct", "function", "grad", "inputs", "kwargs", "name", "origins", "outputs", "place", "result",
        "visit",
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

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        """An argument by position or name."""
        if len(self.args) > place:
            return self.args[place]
        return self.kwargs.get(name, default)


class Failed:
    """The last op that raised: what it was and what it read."""

    def __init__(self, call: Call, error: BaseException) -> None:
        self.op = call.name
        self.place = call.place
        self.origins = call.origins
        self.visit = call.visit
        self.error = weakref.ref(error) if _weak(error) else None
        self.said = f"{type(error).__name__}: {error}"
        self.arguments: dict[str, Any] = {}
        frozen = fence.fenced("reading the arguments of an op that raised")(snapshot)(
            call.function, call.args, call.kwargs, []
        )
        self.args: Snapshot | None = frozen


def _weak(error: BaseException) -> bool:
    return type(error).__weakrefoffset__ > 0


class Trail:
    """All origins, and the mode that makes them. `trail.of(tensor)` is what rules and witnesses ask."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._origins: dict[int, tuple[Any, Origin]] = {}
        self._prune_at = _PRUNE_AFTER
        self._mode = _Mode(self)
        self._thread = threading.get_ident()
        self.ops = 0
        """How many ops were seen."""
        self.cost_s = 0.0
        self.began = time.perf_counter()
        self.closed: str | None = None
        """Why it is off for good: compiled code."""
        self.paused = 0
        self.failed: Failed | None = None
        self._all: list[Callable[[Call], None]] = []
        self.failures: list[Callable[[Call, BaseException], None]] = []
        """Who wants to hear of an op that raised."""
        self._by_name: dict[str, list[Callable[[Call], None]]] = {}
        self._before: dict[str, list[Callable[[Call], None]]] = {}

    @property
    def on(self) -> bool:
        return self._mode.entered

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
        if self.closed is None and not self._mode.entered and threading.get_ident() == self._thread:
            self._mode.__enter__()  # type: ignore[no-untyped-call]
            self._mode.entered = True

    def close(self) -> None:
        """Take the mode off the stack, wherever in it it is now."""
        if self._mode.entered and threading.get_ident() == self._thread:
            take_off(self._mode)
            self._mode.entered = False

    def leave_in_child(self) -> None:
        """In a forked child: its work is not the script's, and must not be slowed down."""
        if self._mode.entered:
            take_off(self._mode)
            self._mode.entered = False
        self.closed = "another process"

    def shut(self, why: str) -> None:
        self.closed = self.closed or why
        self.close()

    def over_allowance(self) -> bool:
        return self.cost_s > _ALLOWANCE_S + _SHARE * (time.perf_counter() - self.began)

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
        if found is not None and found[0]() is tensor:
            return found[1]
        return self._outside(tensor)

    def known(self, tensor: Any) -> Origin | None:
        found = self._origins.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def note(self, tensor: Any, origin: Origin) -> None:
        self._origins[id(tensor)] = (weakref.ref(tensor), origin)
        if len(self._origins) > self._prune_at:
            self._prune()

    def _outside(self, tensor: Any) -> Origin:
        origin = Origin("", tensor, (), None)
        if isinstance(tensor, torch.nn.Parameter) or (
            tensor.requires_grad and not tensor._is_view() and tensor.is_leaf
        ):
            origin.kind, origin.tags = "parameter", PARAMETER
        elif tensor.requires_grad:  # a custom function or scripted code has made it, from parameters
            # Asking a view for its node can raise, where torch forbids what was done to its base.
            maker = "view" if tensor._is_view() else type(tensor.grad_fn).__name__
            origin.op, origin.tags = f"unseen:{maker}", PARAMETER
        self.note(tensor, origin)
        return origin

    def _prune(self) -> None:
        self._origins = {key: found for key, found in self._origins.items() if found[0]() is not None}
        self._prune_at = max(_PRUNE_AFTER, 2 * len(self._origins))

    # One op

    def begin(self, name: str, function: Any, args: Any, kwargs: Any) -> Call:
        inputs: list[Any] = []
        frozen = snapshot(function, args, kwargs, inputs)
        call = Call(name, function, args, kwargs or {}, inputs)
        call.origins = tuple([self.of(tensor) for tensor in inputs])
        frame = sys._getframe(2)
        call.direct = is_own(frame.f_code)
        call.place = own_place(frame)
        call.visit = self._watcher.visits.innermost
        call.result = frozen
        for callback in self._before.get(name, ()):
            callback(call)
        return call

    def end(self, call: Call, result: Any) -> None:
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
            origin = Origin(call.name, tensor, call.origins, call.place)
            origin.output = number
            origin.args, origin.visit, origin.step, origin.grad, origin.index = frozen, call.visit, step, grad, self.ops
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
        self.failed = Failed(call, error)
        with _disabled(), torch.no_grad():
            for callback in self.failures:
                callback(call, error)


def _value(tensor: Any, step: int) -> float | None:
    if not tensor.is_floating_point() or is_transformed(tensor):
        return None
    if tensor.device.type == "cpu":
        return float(tensor)
    return float(here(tensor)) if step < _VALUES_FAR and can_fetch(tensor) else None


def _tag(name: str) -> int:
    if name in _NOISE:
        return NOISE
    return HOST if name in _HOST else CONSTANT


class _Mode(TorchFunctionMode):
    """Sees each torch call of Python code on this thread, once; what runs inside it is not seen."""

    def __init__(self, trail: Trail) -> None:
        super().__init__()
        self._trail = trail
        self._plans: dict[Any, Plan] = {}
        self.entered = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plan = self._plans.get(function)
        if plan is None:
            plan = self._plans[function] = plan_for(function)
        trail = self._trail
        if plan[0] == PASS or trail.paused or not self.entered:
            return function(*args, **kwargs) if kwargs else function(*args)
        clock = own_time()
        call = None
        try:
            with _disabled():
                call = trail.begin(plan[1], function, args, kwargs)
        except Exception as fault:
            fence.report("following an op", fault)
        trail.cost_s += own_time() - clock
        try:
            result = function(*args, **kwargs) if kwargs else function(*args)
        except BaseException as error:
            if call is not None:
                fence.fenced("following an op that raised")(trail.fail)(call, error)
            raise
        if call is not None:
            clock = own_time()
            try:
                with _disabled(), torch.no_grad():
                    trail.end(call, result)
            except Exception as fault:
                fence.report("following an op", fault)
            trail.cost_s += own_time() - clock
        return result
