"""A span in the trace for every call of a module, where stacks would be too much.

Modules are followed only while the window is open. Each span is named `module Net:blocks.0.fc1 (Linear)`; the `modules`
analysis reads them when the trace has no Python calls.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from stepscope import events
from stepscope.fence import fenced
from stepscope.profile.collect.live_objects import live_models_and_optimizers
from stepscope.profile.collect.module_names import module_paths
from stepscope.profile.trace.python_names import MODULE_SPAN

_SPAN = "profiler span"


def hidden_span(torch: ModuleType, name: str) -> Any:
    """A span of torch.profiler, begun; its begin and end are operations that no mode of the script is to see."""
    span = torch.autograd.profiler.record_function(name)
    with events.quietly():
        span.__enter__()
    return span


class ModuleSpans:
    """Switch on with `begin`, off with `end`; nothing of it is left."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._subscription: events.Subscription | None = None

    @fenced("marking the calls of modules")
    def begin(self) -> None:
        """From now on every call of a module that exists now is a span. Not under torch.compile, whose code would see
        that modules are followed and be compiled again."""
        if self._subscription is not None or _something_is_compiled():
            return
        roots, _ = live_models_and_optimizers()
        self._names = _names_of(roots)
        self._subscription = events.subscribe(
            "marking the call of a module", order=90, module_begins=self._enter, module_ends=self._leave
        )

    @fenced("marking the calls of modules")
    def end(self) -> None:
        if self._subscription is not None:
            self._subscription.remove()
            self._subscription = None
        self._names = {}

    def _enter(self, call: Any) -> None:
        import torch

        name = self._names.get(id(call.module))
        if name is not None:
            call.notes[_SPAN] = hidden_span(torch, name)

    def _leave(self, call: Any) -> None:
        span = call.notes.pop(_SPAN, None)
        if span is not None:  # a call that began before the window has none
            with events.quietly():
                span.__exit__(None, None, None)


def _names_of(roots: list[Any]) -> dict[int, str]:
    paths = module_paths(roots)
    kinds = {id(module): type(module).__name__ for root in roots for module in root.modules()}
    return {one: f"{MODULE_SPAN}{label}:{path} ({kinds[one]})" for one, (label, path) in paths.items()}


def _something_is_compiled() -> bool:
    known = sys.modules.get("torch._dynamo.utils")
    return known is not None and bool(known.counters["frames"])
