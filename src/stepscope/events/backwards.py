"""Backward: the door of autograd's engine, which `backward()` and `autograd.grad` both pass."""

from __future__ import annotations

import sys
import threading
from functools import wraps
from threading import get_ident
from typing import Any, ClassVar

import torch

from stepscope.events import patches
from stepscope.events.source import Source, ask, tell

_python_threads: dict[int, Any] = threading.__dict__["_active"]
"""Threads of Python's; the engine has others for devices, in which a checkpoint may run backward within backward."""


class Backwards(Source):
    """One door for every version of torch: since 2.3 a function of `torch.autograd`, before that the engine itself."""

    kinds: ClassVar[tuple[str, ...]] = ("backward_asked", "backward_begins", "backward_ends")
    closing: ClassVar[frozenset[str]] = frozenset({"backward_ends"})

    def __init__(self) -> None:
        super().__init__()
        self.inside: set[int] = set()
        """The threads on which the outermost backward is running."""
        self._undo: Any = None

    def install(self) -> None:
        if "_engine_run_backward" in vars(torch.autograd):
            door = self._layer(vars(torch.autograd)["_engine_run_backward"])
            self._undo = patches.replace(torch.autograd, "_engine_run_backward", door, "autograd.backward")
        else:
            engine = EngineDoor(torch.autograd.Variable._execution_engine, self._layer)
            self._undo = patches.replace(torch.autograd.Variable, "_execution_engine", engine, "autograd.backward")

    def remove(self) -> None:
        self._undo()
        self.inside.clear()

    @property
    def is_running(self) -> bool:
        """Whether backward runs on this thread: a checkpoint calls its modules again there."""
        return get_ident() in self.inside

    def _layer(self, run: Any) -> Any:
        inside = self.inside

        @wraps(run)
        def door(roots: Any, *args: Any, **kwargs: Any) -> Any:
            thread = get_ident()
            if thread in inside or thread not in _python_threads:
                return run(roots, *args, **kwargs)
            if self.backward_asked:
                ask(self.backward_asked, roots, kwargs)
            tell(self.backward_begins, roots, args, kwargs, sys._getframe(1))
            inside.add(thread)
            error: BaseException | None = None
            try:
                return run(roots, *args, **kwargs)
            except BaseException as raised:
                error = raised
                raise
            finally:
                inside.discard(thread)
                tell(self.backward_ends, error)
                error = None  # or the frame and the exception would hold each other

        return door


class EngineDoor:
    """The execution engine with our door in front of it (before torch 2.3)."""

    def __init__(self, engine: Any, layer: Any) -> None:
        self._engine = engine
        self.run_backward = layer(engine.run_backward)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
