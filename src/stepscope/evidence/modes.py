"""Modes: where `train()` and `eval()` were called, and where gradients were disabled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.records.place import Place

LOOKED_BACK = 40


@record
class ModeCall:
    """One call of `train()` or `eval()` on a module, or of `set_grad_enabled`."""

    __slots__ = ("backwards", "kind", "module", "on", "place", "step")

    def __init__(self, kind: str, on: bool, place: Place | None, step: int, module: Module | None = None) -> None:
        self.kind = kind
        """train (with `on` False: `eval()`) · grad (set_grad_enabled as a function)"""
        self.on = on
        self.place = place
        self.step = step
        self.backwards = 0
        """Number of backwards so far."""
        self.module: Module | None = module


@table("modes")
@dataclass(eq=False)
class Modes:
    """`run.modes`"""

    calls: list[ModeCall] = field(default_factory=list)

    def last(self, module: Module, kind: str = "train") -> ModeCall | None:
        """The latest `train()`/`eval()` on this module, or one that contains it."""
        for call in reversed(self.calls[-LOOKED_BACK:]):
            named = call.module if call.kind == kind else None
            if named is module or (named is not None and any(part is module for part in named.modules())):
                return call
        return None
