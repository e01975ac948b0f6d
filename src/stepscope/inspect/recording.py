"""`stepscope.record`: record what runs inside a `with` block as a `Step`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.errors import MissingExtra, UsageError
from stepscope.inspect.step import Step

if TYPE_CHECKING:
    from stepscope.record.recorder import Depth, Recorder
    from stepscope.records.step import StepRecord


def record(
    model: Any = None, *, depth: Depth = "ops", stats: bool = False, cost: bool = True, backward: bool = True
) -> Recording:
    """Record every operation that runs inside the `with` block.

        with stepscope.record(model) as step:
            loss = criterion(model(x), y); loss.backward(); optimizer.step()
        step.print()

    `depth`: "ops" (torch functions, the default), "modules" (module calls only), "aten" (every ATen operator).
    `stats` adds the statistics of every tensor, `cost` time, FLOPs and bytes saved for backward; `backward` records
    the backward ops too. The training is not affected.
    """
    try:
        from stepscope.record.op_observers import observers_for
        from stepscope.record.recorder import Recorder
    except ModuleNotFoundError as fault:
        MissingExtra.if_torch("record", fault)
        raise
    return Recording(Recorder(model, depth=depth, backward=backward, observers=observers_for(cost=cost, stats=stats)))


class Recording:
    """A recording, active between `__enter__` and `__exit__`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> Step:
        self._recorder.start()
        return Step(self._finished)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._recorder.stop(error)
        _forget_our_frames(error)

    def _finished(self) -> StepRecord:
        found = self._recorder.record
        if found is None:
            raise UsageError("the step is still being recorded; use it after the `with` block")
        return found


def _forget_our_frames(error: BaseException | None) -> None:
    """Remove Stepscope's frames from the traceback of an error and its causes."""
    from stepscope.record.tracebacks import without_our_frames

    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = without_our_frames(one.__traceback__)
            waiting += (one.__cause__, one.__context__)
