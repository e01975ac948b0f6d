"""`stepscope.trace_values`: follow every value of a step, forward and backward, and name where NaN or Inf was born."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch

from stepscope.errors import UsageError
from stepscope.events.quiet import quietly
from stepscope.record.nonfinite import Birth, births
from stepscope.record.observer import Observer, OpCall
from stepscope.record.recorder import Recorder
from stepscope.record.statistics import is_transformed, measure, resolve
from stepscope.records.step import Stats

if TYPE_CHECKING:
    from stepscope.record.drafts import Drafts, OpDraft, Ref
    from stepscope.records.step import StepRecord

__all__ = ["Report", "Tracer", "ValuesObserver", "trace_values"]


def trace_values(nan: bool = True, inf: bool = True, model: Any = None) -> Tracer:
    """Watch all values inside the `with` block and tell where NaN or Inf that matters was born.

        with stepscope.trace_values() as tracer:
            loss = criterion(model(x), y); loss.backward()
        print(tracer.check())

    `nan` and `inf` say what to look for; `model` gives modules their names when it is not called as a whole. Infinities
    that reach neither the loss nor a gradient (a mask before a softmax) are listed apart and are no fault.
    """
    return Tracer(nan=nan, inf=inf, model=model)


class Report:
    """What a trace found. `print` it, or ask `.ok`, `.first`, `.all`, `.harmless`."""

    def __init__(self, record: StepRecord, nan: bool, inf: bool) -> None:
        found = births(record, nan=nan, inf=inf)
        self.record = record
        """The recorded step; its ops carry the smallest and largest value of each tensor."""
        self.all: list[Birth] = [birth for birth in found if birth.harmful]
        """Every op where a harmful value was born, in order."""
        self.harmless: list[Birth] = [birth for birth in found if not birth.harmful]
        """Infinities that arrive nowhere: masks."""

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
        return Report(self.record, self._nan, self._inf)


Looked = Stats | tuple[int, Any]
"""Statistics, or the number of elements and (on a device, to be read at the end) smallest and largest value."""


class ValuesObserver(Observer):
    """The cheapest look that misses nothing: smallest and largest value, each version of a tensor once.

    Both are NaN when there is a NaN and infinite when there is an Inf. A sum is faster still, but overflows on large
    finite values and tells nothing about a healthy tensor; the smallest value of what `sqrt` read tells why its
    gradient is infinite. Where something is wrong on a CPU all is counted at once.
    """

    def __init__(self) -> None:
        self._known: dict[Ref, Looked | None] = {}
        self._bad: set[Ref] = set()
        self._fresh: dict[int, tuple[Any, int, Looked | None]] = {}
        """Gradients a node has just made, by address: the next node gets the very same tensor."""
        self._wanted: list[tuple[OpDraft, str, list[Looked | None]]] = []

    def before(self, call: OpCall) -> None:
        self._want(call.draft, "input_stats", call.draft.inputs, call.inputs)

    def after(self, call: OpCall) -> None:
        draft = call.draft
        if draft.name.startswith(("empty", "new_empty", "resize")):
            return  # memory nobody has written to yet
        if draft.view and not draft.inplace and self._bad.isdisjoint(draft.inputs):
            return  # the same values again
        self._want(draft, "output_stats", draft.outputs, call.outputs)

    def _want(self, draft: OpDraft, field: str, refs: Sequence[Ref], tensors: Sequence[Any]) -> None:
        known = self._known
        found = []
        for ref, tensor in zip(refs, tensors, strict=False):
            if ref not in known:
                known[ref] = self._look(tensor)
                if is_suspect(known[ref]):
                    self._bad.add(ref)
            found.append(known[ref])
        self._wanted.append((draft, field, found))

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        known = self._known
        found = []
        present = [gradient for gradient in gradients if gradient is not None]
        for ref, gradient in zip(draft.inputs, present, strict=False):
            if ref not in known:
                known[ref] = self._remembered(gradient)
            found.append(known[ref])
        self._wanted.append((draft, "input_stats", found))

    def _remembered(self, gradient: Any) -> Looked | None:
        fresh = self._fresh.pop(id(gradient), None)
        if fresh is not None and fresh[0]() is gradient and fresh[1] == gradient._version:
            return fresh[2]
        return self._look(gradient)

    def backward_after(self, draft: OpDraft, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        came_in = self._wanted[-1] if self._wanted and self._wanted[-1][0] is draft else None
        if draft.name == "AccumulateGrad":
            if came_in is not None:
                self._wanted.append((draft, "output_stats", came_in[2]))
            return
        healthy = came_in is not None and not any(map(is_suspect, came_in[2]))
        found = []
        for gradient in produced:
            if gradient is None:
                continue
            # A view of what came in (transpose, expand) holds nothing new.
            looked = Stats(numel=gradient.numel()) if healthy and gradient._is_view() else self._look(gradient)
            self._fresh[id(gradient)] = (weakref.ref(gradient), gradient._version, looked)
            found.append(looked)
        self._wanted.append((draft, "output_stats", found))

    def _look(self, tensor: Any) -> Looked | None:
        if not tensor.is_floating_point() or type(tensor) not in _PLAIN or tensor.layout is not torch.strided:
            if not (tensor.is_floating_point() or tensor.is_complex()):
                return None
            return _settle(measure(tensor))
        numel = tensor.numel()
        if numel == 0:
            return Stats(numel=0)
        if _dispatch_modes():
            with quietly():
                return self._edges(tensor, numel)
        return self._edges(tensor, numel)

    def _edges(self, tensor: Any, numel: int) -> Looked | None:
        # Observers run with torch functions off, and what is detached leaves no graph: nothing else to switch off.
        if is_transformed(tensor):
            return None
        values = tensor.detach()
        if values.is_cpu:
            try:
                low, high = torch.aminmax(values)
            except RuntimeError:  # a type without an order, such as float8
                return None
            least, most = low.item(), high.item()
            if isfinite(least) and isfinite(most):
                return Stats(numel=numel, min=least, max=most)
            return _settle(measure(tensor))
        if values.is_meta or (values.is_cuda and torch.cuda.is_current_stream_capturing()):
            return None
        edges = torch.stack(torch.aminmax(values))
        return numel, edges.float() if values.device.type == "mps" else edges.double()

    def finish(self, drafts: Drafts) -> None:
        waiting = {id(item): item for _, _, found in self._wanted for item in found if isinstance(item, tuple)}
        read: dict[int, Stats] = {}
        with quietly():
            for device in {item[1].device for item in waiting.values()}:
                here = {key: item for key, item in waiting.items() if item[1].device == device}
                rows = torch.stack([item[1] for item in here.values()]).tolist()
                read.update(
                    (key, _at_least(item[0], *row)) for (key, item), row in zip(here.items(), rows, strict=True)
                )
        for draft, field, found in self._wanted:
            setattr(draft, field, [read[id(item)] if isinstance(item, tuple) else item for item in found])
        self._known.clear()
        self._bad.clear()
        self._fresh.clear()
        self._wanted.clear()


_PLAIN = {torch.Tensor, torch.nn.Parameter}
_dispatch_modes = torch._C._len_torch_dispatch_stack


def is_suspect(looked: Looked | None) -> bool:
    """Bad, or not known yet."""
    if isinstance(looked, Stats):
        return bool(looked.nan or looked.pos_inf or looked.neg_inf)
    return looked is not None


def _settle(measured: Any) -> Stats | None:
    return resolve([measured])[0]


def _at_least(numel: int, low: float, high: float) -> Stats:
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
