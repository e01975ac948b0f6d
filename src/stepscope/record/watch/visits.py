"""Visits: which module is running. Calls of root modules are always seen, those inside them while the trail is on."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as torch_module

from stepscope import fence
from stepscope.events import Installed
from stepscope.record.arguments import tensors_in
from stepscope.record.modules import _has_fast_path
from stepscope.record.watch.origin import OUTPUT, Origin
from stepscope.record.watch.places import own_place

if TYPE_CHECKING:
    from stepscope.record.sites import Place
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Visit", "Visits"]

_KEPT = 4000


class Visit:
    """One run of a module's forward."""

    __slots__ = (
        "batch", "depth", "error", "grad", "index", "inputs", "module", "outputs", "parent", "path", "place",
        "shapes_in", "shapes_out", "step", "time", "training", "type",
    )  # fmt: skip

    def __init__(self, module: Any, parent: Visit | None, place: Place | None) -> None:
        self.module = weakref.ref(module)
        self.type = type(module).__name__
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.place = place
        """Where the user's code called it."""
        self.path = ""
        """Its name inside its root module; "" for the root itself."""
        self.training: bool = module.training
        self.grad: bool = torch.is_grad_enabled()
        self.step = 0
        self.time = time.perf_counter()
        self.index = 0
        self.batch: int | None = None
        """The number of the last batch a loader had delivered when it was called."""
        self.inputs: tuple[Origin, ...] = ()
        self.outputs: tuple[Origin, ...] = ()
        self.shapes_in: list[tuple[int, ...]] = []
        self.shapes_out: list[tuple[int, ...]] = []
        self.error = False

    @property
    def root(self) -> Visit:
        visit = self
        while visit.parent is not None:
            visit = visit.parent
        return visit

    def __repr__(self) -> str:
        return f"Visit({self.path or self.type}, {self.shapes_in} -> {self.shapes_out})"


def _only_hands_on(call: Any) -> bool:
    """Whether this `Module.__call__` is torch's, which calls `_call_impl` and does nothing else."""
    code = getattr(call, "__code__", None)
    known = call is torch.nn.Module.__dict__.get("_wrapped_call_impl") and hasattr(torch.nn.Module, "_call_impl")
    return known and code is not None and set(code.co_names) == {"_compiled_call_impl", "_call_impl"}


class Visits:
    """The stack of running modules, the recent root visits, and the visits of the latest watched root call."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._thread = threading.get_ident()
        self._outer, self._inner = Installed(), Installed()
        self.stack: list[Visit] = []
        self.roots: deque[Visit] = deque(maxlen=_KEPT)
        """Calls of root modules, the latest last."""
        self.latest: list[Visit] = []
        """All visits of the root call that ran last (or is running), in order: the way a shape took."""
        self.count = 0
        self._paths: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._guards: list[tuple[Visit, Any]] = []

    @property
    def innermost(self) -> Visit | None:
        return self.stack[-1] if self.stack else None

    def install(self, installed: Installed) -> None:
        original = torch.nn.Module.__call__
        visits, stack, thread, ident = self, self.stack, self._thread, threading.get_ident
        is_torchs = _only_hands_on(original)

        # torch.profiler looks for a local named `self` in the code of Module.__call__, and crashes without one.
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if stack or ident() != thread:
                if is_torchs and self._compiled_call_impl is None:  # inside a model: not one frame more than without us
                    return self._call_impl(*args, **kwargs)
                return original(self, *args, **kwargs)
            return visits._root(original, self, args, kwargs)

        __call__.__wrapped__ = original  # type: ignore[attr-defined]
        self._outer.patch(torch.nn.Module, "__call__", __call__)
        installed.add(self._outer.remove)
        installed.add(self._inner.remove)

    def step_aside(self) -> None:
        """Give modules their own `__call__` back: the compiler looks at it."""
        self._outer.remove()

    def look_inside(self, yes: bool) -> None:
        """Follow the modules inside root modules too, by torch's global hooks."""
        self._inner.remove()
        if not yes:
            return
        enter = fence.fenced("following a module")(self._enter)
        leave = fence.fenced("following a module")(self._leave)
        self._inner.add(torch_module.register_module_forward_pre_hook(enter).remove)
        self._inner.add(torch_module.register_module_forward_hook(leave, with_kwargs=True, always_call=True).remove)

    # Root modules

    def _root(self, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        visit = self._begin_root(module, args, kwargs)
        if visit is None:
            return original(module, *args, **kwargs)
        try:
            result = original(module, *args, **kwargs)
        except BaseException:
            visit.error = True
            self._unwind()
            raise
        self._unwind()
        self._end_root(visit, module, args, kwargs, result)
        return result

    @fence.fenced("following a call of a model")
    def _begin_root(self, module: Any, args: Any, kwargs: Any) -> Visit | None:
        watcher = self._watcher
        if not watcher.listens() or watcher.steps.in_backward:  # there a checkpoint runs its modules again
            return None
        visit = Visit(module, None, watcher.trainer.place(own_place(sys._getframe(2))))
        visit.step, visit.index, visit.batch = watcher.step, self.count, watcher.batches
        self.count += 1
        self.roots.append(visit)
        if watcher.trail.on:
            with torch._C.DisableTorchFunction():
                self.latest = [visit]
                self._describe(visit, args, kwargs)
        # A hook of ours may run models too; those are not the user's calls.
        watcher.tell("root_begins", visit, module, args, kwargs)
        self.stack.append(visit)
        return visit

    @fence.fenced("following a call of a model")
    def _end_root(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        watcher = self._watcher
        if watcher.trail.on:
            with torch._C.DisableTorchFunction():
                self._describe_result(visit, result)
                for origin in visit.outputs:
                    origin.tags |= OUTPUT
        watcher.tell("root_done", visit, module, args, kwargs, result)

    def _unwind(self) -> None:
        self.stack.clear()
        while self._guards:
            self._guards.pop()[1].__exit__(None, None, None)

    # Modules inside them

    def _enter(self, module: Any, args: Any) -> None:
        if not self.stack or threading.get_ident() != self._thread:
            return
        parent = self.stack[-1]
        if parent.module() is module and parent.parent is None and len(self.stack) == 1 and len(self.latest) == 1:
            self._name_tree(module)  # the root's own hook
            self._guard(parent, module)
            return
        visit = Visit(module, parent, own_place(sys._getframe(1)))
        visit.step, visit.batch = parent.step, parent.batch
        visit.path = self._paths.get(module, "")
        with torch._C.DisableTorchFunction():
            self._describe(visit, args, {})
        self.stack.append(visit)
        self.latest.append(visit)
        self._guard(visit, module)

    def _leave(self, module: Any, args: Any, *rest: Any) -> None:
        if not self.stack or threading.get_ident() != self._thread:
            return
        kwargs, result = rest if len(rest) == 2 else ({}, *rest)
        top = self.stack[-1]
        if top.module() is not module:
            return
        if self._guards and self._guards[-1][0] is top:
            self._guards.pop()[1].__exit__(None, None, None)
        if top.parent is None:
            return  # the root; `_root` ends it
        self.stack.pop()
        if result is None and sys.exc_info()[1] is not None:
            top.error = True
            return
        with torch._C.DisableTorchFunction():
            self._describe_result(top, result)
        self._watcher.tell("module_done", top, module, args, kwargs, result)

    def _guard(self, visit: Visit, module: Any) -> None:
        # Under a torch-function mode torch leaves its fused inference path, whose results differ in the last bits.
        if self._watcher.trail.on and (isinstance(module, torch.jit.ScriptModule) or _has_fast_path(module)):
            guard = torch._C.DisableTorchFunction()
            self._guards.append((visit, guard))
            guard.__enter__()

    def _name_tree(self, root: Any) -> None:
        if root in self._paths:
            return
        for path, module in root.named_modules():
            self._paths[module] = path

    def _describe(self, visit: Visit, args: Any, kwargs: Any) -> None:
        tensors = tensors_in((args, kwargs))
        visit.inputs = tuple(map(self._watcher.trail.of, tensors))
        visit.shapes_in = [tuple(tensor.shape) for tensor in tensors]

    def _describe_result(self, visit: Visit, result: Any) -> None:
        tensors = tensors_in(result)
        visit.outputs = tuple(map(self._watcher.trail.of, tensors))
        visit.shapes_out = [tuple(tensor.shape) for tensor in tensors]
