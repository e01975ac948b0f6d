"""Time of each op: on the host by the clock, on the device by pairs of events that nobody waits for until the end."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.observer import Observer, OpCall

if TYPE_CHECKING:
    from stepscope.record.drafts import CallDraft, Drafts, OpDraft

__all__ = ["TimingObserver"]


class _Open:
    """An op or module call that has begun."""

    __slots__ = ("draft", "event", "inside_ns", "start_ns")

    def __init__(self, draft: Any, event: Any) -> None:
        self.draft = draft
        self.event = event
        self.inside_ns = 0
        """Time of recorded ops within this one: theirs, not ours."""
        self.start_ns = perf_counter_ns()


class TimingObserver(Observer):
    """Fills `host_us` of ops and module calls, and `device_us` where they ran on CUDA."""

    def __init__(self) -> None:
        self._stacks = threading.local()  # CUDA's backward runs on a thread of its own
        self._modules: list[_Open] = []
        self._pairs: list[tuple[Any, Any, Any]] = []
        self._cuda = (
            torch.version.cuda is not None or torch.version.hip is not None
        )  # asks no driver, so it starts none

    def _stack(self) -> list[_Open]:
        found: list[_Open] | None = getattr(self._stacks, "open", None)
        if found is None:
            found = self._stacks.open = []
        return found

    def before(self, call: OpCall) -> None:
        # On a device `backward` runs its nodes on another thread; their events would be counted twice.
        timed = self._cuda and call.draft.name != "backward"
        event = self._event(call.inputs, call.kwargs.get("device")) if timed else None
        self._stack().append(_Open(call.draft, event))

    def returned(self, call: OpCall) -> None:
        self._close(call.draft, perf_counter_ns())

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        event = self._event(gradients) if self._cuda else None
        self._stack().append(_Open(draft, event))

    def backward_after(self, draft: OpDraft, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        self._close(draft, perf_counter_ns())

    def _close(self, draft: OpDraft, now: int) -> None:
        stack = self._stack()
        while stack:
            done = stack.pop()
            if done.draft is draft:
                self._note(done, now, stack)
                return  # what lay above it was left by an exception and has no time of its own

    def _note(self, done: _Open, now: int, stack: list[_Open]) -> None:
        spent = now - done.start_ns
        done.draft.host_us = (spent - done.inside_ns) / 1000
        if stack:
            stack[-1].inside_ns += spent
        self._end_event(done)

    def module_before(self, call: CallDraft) -> None:
        self._modules.append(_Open(call, self._event_now() if self._cuda else None))

    def module_after(self, call: CallDraft) -> None:
        now = perf_counter_ns()
        while self._modules:
            done = self._modules.pop()
            if done.draft is call:
                call.host_us = (now - done.start_ns) / 1000
                self._end_event(done)
                return

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

    def _end_event(self, done: _Open) -> None:
        if done.event is None or torch.cuda.is_current_stream_capturing():
            return
        start, stream = done.event
        end: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        end.record(stream)
        self._pairs.append((done.draft, start, end))

    def finish(self, drafts: Drafts) -> None:
        """Wait for the device once, then read all events."""
        for device in {start.device for _, start, _ in self._pairs}:
            torch.cuda.synchronize(device)
        for draft, start, end in self._pairs:
            draft.device_us = start.elapsed_time(end) * 1000
        self._pairs.clear()
        self._modules.clear()
