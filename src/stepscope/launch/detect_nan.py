"""`--detect-nan`: every value of every step is followed, until the first NaN or Inf that matters is found and named."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.launch.loop import Loop

if TYPE_CHECKING:
    from stepscope.record.values import Tracer

__all__ = ["DetectNan"]


class DetectNan:
    """One trace from the end of each backward to the end of the next; the first that is not clean is told.

    A trace ends and begins outside of every hook: one that came and went inside an optimizer's or the engine's hooks
    would change the list that torch is walking through.
    """

    def __init__(self, loop: Loop, say: Callable[[str], None]) -> None:
        self.found: str | None = None
        self._loop = loop
        self._say = say
        self._tracer: Tracer | None = None
        self._on = False
        self._depth = 0
        self._installed = Installed()

    def start(self, torch: Any) -> None:
        for owner in (torch.Tensor, torch.autograd):
            self._installed.patch(owner, "backward", self._around(owner.__dict__["backward"]))
        self._on = True
        self._begin()

    def stop(self) -> None:
        self._look()
        self._on = False
        self._installed.remove()

    def _around(self, backward: Any) -> Any:
        @wraps(backward)
        def whole(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            try:
                result = backward(*args, **kwargs)
            finally:
                self._depth -= 1
            if not self._depth and self._on and self._loop.is_on:
                self._look()
                self._begin()
            return result

        return whole

    @fence.fenced("--detect-nan")
    def _begin(self) -> None:
        if not self._on or self._tracer is not None:
            return
        from stepscope.record.values import trace_values

        tracer = trace_values()
        tracer.__enter__()
        self._tracer = tracer

    @fence.fenced("--detect-nan")
    def _look(self) -> None:
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        tracer.__exit__(None, None, None)
        report: Any = tracer.check()
        if report.ok:
            return
        self._on = False
        self.found = str(report)
        self._say(f"--detect-nan: in step {self._loop.steps} a value that is not finite was born\n{report}")
