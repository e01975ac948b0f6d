"""`--detect-nan`: every value of every step is followed, until the first NaN or Inf that matters is found and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.launch.loop import Loop

if TYPE_CHECKING:
    from stepscope.record.values import Tracer

__all__ = ["DetectNan"]


class DetectNan:
    """One trace from each step to the next; the first that is not clean is told, and tracing ends."""

    def __init__(self, loop: Loop, say: Callable[[str], None]) -> None:
        self.found: str | None = None
        self._loop = loop
        self._say = say
        self._tracer: Tracer | None = None
        self._on = False
        loop.before_step.append(lambda optimizer: self._look())
        loop.on_step.append(lambda optimizer: self._begin())

    def start(self) -> None:
        self._on = True
        self._begin()

    def stop(self) -> None:
        self._look()
        self._on = False

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
