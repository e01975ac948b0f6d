"""Time of each op: on the host by the clock, on the device by pairs of events that nobody waits for until the end.

The recorder reads the clock around each op (`draft.began`, `draft.ended`); what was within what is worked out later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.op_observer import Observer, OpCall

if TYPE_CHECKING:
    from stepscope.record.step_builder import CallDraft, Drafts, OpDraft

_DEVICE_ONLY = ("before", "returned", "backward_before", "backward_after", "module_before", "module_after")


class TimingObserver(Observer):
    """Fills `host_us` of ops and module calls, and `device_us` where they ran on CUDA."""

    wants_clock = True

    def __init__(self) -> None:
        self._open: dict[int, Any] = {}
        self._pairs: list[tuple[Any, Any, Any]] = []
        self._cuda = (
            torch.version.cuda is not None or torch.version.hip is not None
        )  # asks no driver, so it starts none

    def hears(self, method: str) -> bool:
        return super().hears(method) and (self._cuda or method not in _DEVICE_ONLY)

    def before(self, call: OpCall) -> None:
        # On a device `backward` runs its nodes on another thread; their events would be counted twice.
        if call.draft.name != "backward":
            self._open[id(call.draft)] = self._event(call.inputs, call.kwargs.get("device"))

    def returned(self, call: OpCall) -> None:
        self._end_event(call.draft, self._open.pop(id(call.draft), None))

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        self._open[id(draft)] = self._event(gradients)

    def backward_after(self, draft: OpDraft, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        self._end_event(draft, self._open.pop(id(draft), None))

    def module_before(self, call: CallDraft) -> None:
        self._open[id(call)] = self._event_now()

    def module_after(self, call: CallDraft) -> None:
        self._end_event(call, self._open.pop(id(call), None))

    def _event(self, tensors: Sequence[Any], device: Any = None) -> Any:
        """An event on the stream where the op is about to run, or None when it does not run on CUDA."""
        for tensor in tensors:
            if tensor is not None and tensor.is_cuda:
                return self._event_now(tensor.device)
        if device is not None and torch.device(device).type == "cuda":
            return self._event_now(torch.device(device))
        return None

    def _event_now(self, device: Any = None) -> Any:
        # While a CUDA graph is captured an event would become part of the graph.
        if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            return None
        if torch.cuda.is_current_stream_capturing():
            return None
        stream = torch.cuda.current_stream(device)
        event: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record(stream)
        return event, stream

    def _end_event(self, draft: Any, begun: Any) -> None:
        if begun is None or torch.cuda.is_current_stream_capturing():
            return
        start, stream = begun
        end: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        end.record(stream)
        self._pairs.append((draft, start, end))

    def finish(self, drafts: Drafts) -> None:
        """Wait for the device once, then read all events."""
        for device in {start.device for _, start, _ in self._pairs}:
            torch.cuda.synchronize(device)
        for draft, start, end in self._pairs:
            draft.device_us = start.elapsed_time(end) * 1000
        self._pairs.clear()
        self._open.clear()

    def build(self, drafts: Drafts) -> None:
        """An op's time is without that of the ops recorded within it, on the same thread."""
        for call in drafts.calls:
            if call.began and call.ended:
                call.host_us = (call.ended - call.began) / 1000
        timed = [draft for draft in drafts.ops if draft.began and draft.ended]
        inside: dict[int, list[OpDraft]] = {}
        for draft in sorted(timed, key=lambda one: one.began):
            draft.host_us = (draft.ended - draft.began) / 1000
            around = inside.setdefault(draft.thread, [])
            while around and around[-1].ended <= draft.began:
                around.pop()
            if around:
                around[-1].host_us -= draft.host_us  # type: ignore[operator]
            around.append(draft)
