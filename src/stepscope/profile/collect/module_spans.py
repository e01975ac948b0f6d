"""A span in the trace for every call of a module, where stacks would be too much.

Two global hooks, only while the window is open. Each span is named `module Net:blocks.0.fc1 (Linear)`; the `modules`
analysis reads them when the trace has no Python calls.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from stepscope.fence import fenced
from stepscope.profile.collect.alive import live_models_and_optimizers
from stepscope.profile.collect.module_names import module_paths
from stepscope.profile.trace.python_names import MODULE_SPAN

__all__ = ["ModuleSpans"]


class ModuleSpans:
    """Switch on with `begin`, off with `end`; nothing of it is left."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._handles: list[Any] = []
        self._open = threading.local()

    @fenced("marking the calls of modules")
    def begin(self) -> None:
        """From now on every call of a module that exists now is a span. Not under torch.compile, where hooks on all
        modules would have everything compiled anew."""
        import torch

        if self._handles or _something_is_compiled():
            return
        roots, _ = live_models_and_optimizers()
        self._names = _names_of(roots)
        hooks = torch.nn.modules.module
        self._handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]

    @fenced("marking the calls of modules")
    def end(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._names = {}

    @fenced("marking the call of a module")
    def _enter(self, module: Any, args: Any) -> None:
        import torch

        name = self._names.get(id(module))
        if name is None:
            return
        span: Any = torch.autograd.profiler.record_function(name)
        span.__enter__()
        self._stack().append((id(module), span))

    @fenced("marking the call of a module")
    def _leave(self, module: Any, args: Any, output: Any) -> None:
        stack = self._stack()
        if stack and stack[-1][0] == id(module):  # a call that began before the hooks has no span to end
            stack.pop()[1].__exit__(None, None, None)

    def _stack(self) -> list[Any]:
        found: list[Any] | None = getattr(self._open, "spans", None)
        if found is None:
            found = self._open.spans = []
        return found


def _names_of(roots: list[Any]) -> dict[int, str]:
    paths = module_paths(roots)
    kinds = {id(module): type(module).__name__ for root in roots for module in root.modules()}
    return {one: f"{MODULE_SPAN}{label}:{path} ({kinds[one]})" for one, (label, path) in paths.items()}


def _something_is_compiled() -> bool:
    known = sys.modules.get("torch._dynamo.utils")
    return known is not None and bool(known.counters["frames"])
