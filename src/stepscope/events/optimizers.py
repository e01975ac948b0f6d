"""Optimizers: every step of every optimizer, by torch's two global hooks; and the closure some of them are given."""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any, ClassVar

import torch.optim.optimizer as torch_optimizer

from stepscope.events.source import Source, ask, tell


class Optimizers(Source):
    """`begin(optimizer)` and `end(optimizer)` also take steps of optimizers that are not torch's (fastai, Keras)."""

    kinds: ClassVar[tuple[str, ...]] = ("step_asked", "step_begins", "closure_begins", "closure_ends", "step_ends")
    closing: ClassVar[frozenset[str]] = frozenset({"step_ends", "closure_ends"})

    def __init__(self) -> None:
        super().__init__()
        self._handles: list[Any] = []
        self._inside = 0
        """Above 0 while torch goes through its hooks, which must not change meanwhile."""

    def install(self) -> None:
        if self._handles:  # their removal was put off
            return
        self._handles = [
            torch_optimizer.register_optimizer_step_pre_hook(self.begin),
            torch_optimizer.register_optimizer_step_post_hook(self.end),
        ]

    def remove(self) -> None:
        while self._handles and not self._inside:
            self._handles.pop().remove()

    def tidy(self) -> None:
        if not self.is_installed:
            self.remove()

    def begin(self, optimizer: Any, args: Any = (), kwargs: Any = None) -> tuple[Any, Any] | None:
        """A step begins; gives the arguments to go on with where a closure among them is followed."""
        kwargs = {} if kwargs is None else kwargs
        self._inside += 1
        try:
            if self.step_asked:
                ask(self.step_asked, optimizer)
            if self.step_begins:
                tell(self.step_begins, optimizer, args, kwargs, sys._getframe(1))
        finally:
            self._inside -= 1
        if len(args) < 2 and not kwargs:
            return None
        return self._through_closure(optimizer, args, kwargs)

    def end(self, optimizer: Any, args: Any = (), kwargs: Any = None) -> None:
        self._inside += 1
        try:
            tell(self.step_ends, optimizer, args, {} if kwargs is None else kwargs)
        finally:  # who leaves a debugger leaves the step
            self._inside -= 1

    def _through_closure(self, optimizer: Any, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        """A step with a closure (LBFGS, Lightning): forward and backward run inside it."""
        given = closure_in(args, kwargs)
        if given is None or not (self.closure_begins or self.closure_ends):
            return None

        @wraps(given)
        def closure(*inner: Any, **named: Any) -> Any:
            tell(self.closure_begins, optimizer)
            try:
                result = given(*inner, **named)
            except BaseException as error:
                tell(self.closure_ends, optimizer, error)
                raise
            tell(self.closure_ends, optimizer, None)
            return result

        if "closure" in kwargs:
            return args, {**kwargs, "closure": closure}
        return (args[0], closure, *args[2:]), kwargs


def closure_in(args: Any, kwargs: Any) -> Any:
    """The closure among the arguments of `step`, or None."""
    given = kwargs.get("closure", args[1] if len(args) > 1 else None)
    return given if callable(given) else None
