"""Everything a recording installs, with how to take it away again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope import fence

__all__ = ["Installed"]


class Installed:
    """Undo steps, run last to first; one that fails is reported and the others still run."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []

    def add(self, undo: Callable[[], Any]) -> None:
        self._undo.append(undo)

    def patch(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute until `remove`."""
        before = owner.__dict__[name]
        setattr(owner, name, value)
        self.add(lambda: setattr(owner, name, before))

    def remove(self) -> None:
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except Exception as fault:
                fence.report("removing a hook of the recording", fault)
