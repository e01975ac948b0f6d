"""Finds arithmetic on bytes that went below 0 or above 255 and came out at the other end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.uint8_overflow import Overflow, Uint8Overflows
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_LOOKS = 3
_LARGEST = 2_000_000


class Uint8OverflowObserver(Observer, Uint8Overflows):
    ops: ClassVar[frozenset[str]] = frozenset({"sub", "sub_", "rsub", "neg", "add", "add_", "mul", "mul_", "subtract"})

    def __init__(self, watcher: Watcher) -> None:
        Uint8Overflows.__init__(self)
        super().__init__(watcher)
        self._looked: dict[Any, int] = {}

    def op(self, call: Call) -> None:
        if not call.outputs or call.outputs[0].dtype is not torch.uint8 or call.name.endswith("_"):
            return
        looked = self._looked.get(call.place, 0)
        self._looked[call.place] = looked + 1
        result = call.outputs[0]
        if looked >= _LOOKS or not 0 < result.numel() <= _LARGEST or not all(map(can_fetch, (*call.inputs, result))):
            return
        with quietly():
            wide = [
                raw.to(here(part), torch.int64) if isinstance(part, torch.Tensor) else part for part in call.args[:2]
            ]
            wrong = int(raw.item((_true(call.name, wide) != raw.to(here(result), torch.int64)).sum()))
        if wrong:
            wrap = self.found.setdefault(call.place, Overflow(call.name, call.place, tuple(result.shape)))
            wrap.calls, wrap.wrapped, wrap.values = wrap.calls + 1, wrap.wrapped + wrong, wrap.values + result.numel()


def _true(name: str, parts: list[Any]) -> Any:
    """What the operation gives in whole numbers that do not wrap."""
    if name == "neg":
        return -parts[0]
    if name.startswith("add"):
        return parts[0] + parts[1]
    if name.startswith("mul"):
        return parts[0] * parts[1]
    return parts[1] - parts[0] if name == "rsub" else parts[0] - parts[1]
