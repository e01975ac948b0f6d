"""`stepscope.trace_values`: follow every value of a step, forward and backward, and name where NaN or Inf was born."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.record.nonfinite import Birth, births
from stepscope.record.op_observer import Observer
from stepscope.record.recorder import Recorder
from stepscope.record.value_tape import ValueTape
from stepscope.records.finite import is_bad
from stepscope.records.step import Stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.step_builder import Drafts, Ref
    from stepscope.records.step import StepRecord


def trace_values(nan: bool = True, inf: bool = True, model: Any = None) -> Tracer:
    """Watch all values inside the `with` block and tell where NaN or Inf that matters was born.

        with stepscope.trace_values() as tracer:
            loss = criterion(model(x), y); loss.backward()
        print(tracer.check())

    `nan` and `inf` say what to look for; `model` gives modules their names when it is not called as a whole. Infinities
    that reach neither the loss nor a gradient (a mask before a softmax) are listed apart and are not faults.
    """
    return Tracer(nan=nan, inf=inf, model=model)


class Report:
    """What a trace found. `print` it, or ask `.ok`, `.first`, `.all`, `.harmless`."""

    def __init__(self, recorded: Callable[[], StepRecord], *, nan: bool, inf: bool, healthy: bool = False) -> None:
        self._recorded, self._nan, self._inf = recorded, nan, inf
        self._healthy = healthy
        """All values were finite: there is nothing to look for, and no need to put the record together."""

    @property
    def record(self) -> StepRecord:
        """The recorded step; its ops carry the smallest and largest value of each tensor."""
        return self._recorded()

    @cached_property
    def _births(self) -> list[Birth]:
        return [] if self._healthy else births(self.record, nan=self._nan, inf=self._inf)

    @property
    def all(self) -> list[Birth]:
        """Every op where a harmful value was born, in order."""
        return [birth for birth in self._births if birth.harmful]

    @property
    def harmless(self) -> list[Birth]:
        """Infinities that arrive nowhere: masks."""
        return [birth for birth in self._births if not birth.harmful]

    @property
    def first(self) -> Birth | None:
        return self.all[0] if self.all else None

    @property
    def ok(self) -> bool:
        return not self.all

    def __str__(self) -> str:
        if self.first is None:
            looked = sum(1 for op in self.record.ops if op.output_stats is not None)
            masks = f"; {len(self.harmless)} harmless (such as masks)" if self.harmless else ""
            return f"no NaN or Inf reaches the loss or a gradient ({looked} ops looked at{masks})"
        more = len(self.all) - 1
        return str(self.first) + (f"\n  and {more} more (.all)" if more else "")


class Tracer:
    """A trace, on inside a `with` block."""

    def __init__(self, *, nan: bool, inf: bool, model: Any) -> None:
        if not nan and not inf:
            raise UsageError("trace_values(nan=False, inf=False) looks for nothing; leave one of them on")
        self._nan, self._inf = nan, inf
        self._recorder = Recorder(model, observers=[ValuesObserver()])

    def __enter__(self) -> Tracer:
        self._recorder.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._recorder.stop(error)

    @property
    def record(self) -> StepRecord:
        found = self._recorder.record
        if found is None:
            raise UsageError("the values are still being traced; ask after the `with` block")
        return found

    def check(self) -> Report:
        """What was found; call it after the `with` block."""
        tape = self._recorder.tape
        if self._recorder.off and isinstance(tape, ValueTape):
            return Report(lambda: self.record, nan=self._nan, inf=self._inf, healthy=tape.is_healthy())
        record = self.record  # put together already; raises while values are still traced
        return Report(lambda: record, nan=self._nan, inf=self._inf)


class ValuesObserver(Observer):
    """Has the values looked at while the tape runs, and writes what was seen into the ops."""

    wants_values = True

    def build(self, drafts: Drafts) -> None:
        seen: dict[Ref, Stats] = {}
        for ghost, version, looked in zip(*[iter(drafts.looks)] * 3, strict=True):
            entry = drafts.tensors.known(ghost)
            if entry is not None and looked is not None:
                seen[entry.number, version or 0] = looked if isinstance(looked, Stats) else _stats_of(*looked)
        _bridge(drafts, seen)
        for draft in drafts.ops:
            draft.input_stats = [seen.get(ref) for ref in draft.inputs]
            found = [seen.get(ref) for ref in draft.outputs]
            draft.output_stats = found if any(stats is not None for stats in found) else None


def _bridge(drafts: Drafts, seen: dict[Ref, Stats]) -> None:
    """What an optimizer wrote in place between two looks, both bad, was bad too."""
    last = {number: stats for (number, _), stats in sorted(seen.items(), key=lambda one: one[0])}
    for draft in drafts.ops:
        if draft.phase != "optimizer":
            continue
        for ref in draft.outputs:
            before = next((seen.get(one) for one in draft.inputs if one[0] == ref[0] and one != ref), None)
            if ref not in seen and is_bad(before) and is_bad(last.get(ref[0])):
                seen[ref] = before  # type: ignore[assignment]


def _stats_of(numel: int, low: float, high: float) -> Stats:
    if math.isnan(low) or math.isnan(high):
        return Stats(numel=numel, nan=1, counted=False)
    below, above = int(low == -math.inf), int(high == math.inf)
    return Stats(
        numel=numel,
        pos_inf=above,
        neg_inf=below,
        min=None if below else low,
        max=None if above else high,
        counted=not (below or above),
    )
