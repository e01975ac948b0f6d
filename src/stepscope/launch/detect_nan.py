"""`--detect-nan`: every value of every step is followed, until the first NaN or Inf that matters is found and named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope import events, fence
from stepscope.launch.loop import Loop

if TYPE_CHECKING:
    from stepscope.record.trace_values import Tracer

_WHO = "--detect-nan"


class DetectNan:
    """One trace until the work after a backward begins; the first trace that is not clean is reported.

    A trace cannot end where its backward does: that is inside a call which the trace itself follows. It ends at the
    next event: a step, a batch, a model, or the end of the script.
    """

    def __init__(self, loop: Loop, say: Callable[[str], None]) -> None:
        self.found: str | None = None
        self._loop = loop
        self._say = say
        self._tracer: Tracer | None = None
        self._due = False
        self._subscription: events.Subscription | None = None

    def start(self, torch: ModuleType) -> None:
        self._subscription = events.subscribe(
            _WHO,
            thread=threading.get_ident(),
            order=20,
            backward_ends=self._backward_ends,
            step_begins=self._next,
            batch_asked=self._next,
            model_begins=self._next,
        )
        fence.call(_WHO, self._begin)

    def stop(self) -> None:
        fence.call(_WHO, self._look)
        if self._subscription is not None:
            self._subscription.remove()
            self._subscription = None

    def _backward_ends(self, error: BaseException | None) -> None:
        self._due = error is None and self._loop.is_on

    def _next(self, *happening: Any) -> None:
        if self._due:
            self._due = False
            self._look()
            self._begin()

    def _begin(self) -> None:
        if self.found is not None or self._tracer is not None:
            return
        from stepscope.record.trace_values import trace_values

        tracer = trace_values()
        tracer.__enter__()
        self._tracer = tracer

    def _look(self) -> None:
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        tracer.__exit__(None, None, None)
        report: Any = tracer.check()
        if not report.ok:
            self.found = str(report)
            self._say(f"{_WHO}: in step {self._loop.steps} a value that is not finite was born\n{report}")
