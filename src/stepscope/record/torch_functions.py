"""Torch functions: every torch call of the user's code comes by here, once, with its arguments.

While observers look at values this runs around every op as it happens; else when the tape is replayed (`replay.py`).
"""

from __future__ import annotations

from time import perf_counter_ns
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.names import BACKWARD, OP, Plan
from stepscope.record.arguments import snapshot, tensors_in, written_by_schema
from stepscope.record.identity import is_tensor_type
from stepscope.record.op_observer import OpCall, tell
from stepscope.record.sites import USERS as _USERS, Spot, place_of
from stepscope.record.step_builder import OpDraft

if TYPE_CHECKING:
    from stepscope.record.identity import Entry
    from stepscope.record.recorder import Recorder

_disabled = torch._C.DisableTorchFunction
_Tensor = torch.Tensor
READ_ONLY: dict[Any, bool] = {}
"""What `reads_only` has answered."""

_Begun = tuple[OpDraft, list[Any], "list[Entry]", int, OpCall | None, Plan, Any, Any, Any]
"""An op that is running: its draft, the tensors it reads and what is known of them, autograd's counter, what observers
are shown (None when nobody watches), what it is, and how it was called: function, args, kwargs."""


class Functions:
    """Records each op around its call; an `events.Follower`. A functional is one op: its inside is not followed."""

    who = "recording an op"
    under_modes = True
    paused = 0

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._counter = recorder.nodes.counter
        self._phases = recorder.phases
        self._stack = recorder.modules.stack
        self._optimizers = recorder.optimizers
        self._ops = recorder.drafts.ops
        self._flow = recorder.flow
        self._lives = recorder.tensors.lives
        self._timed = recorder.timed
        self._before = recorder.watchers("before")
        self._returned = recorder.watchers("returned")
        self._after = recorder.watchers("after")
        self._watched = bool(self._before or self._returned or self._after)

    def begin(self, plan: Plan, function: Any, args: Any, kwargs: Any, frame: Any) -> _Begun:
        inputs: list[Any] = []
        frozen = snapshot(function, args, kwargs, inputs)
        code = frame.f_code
        place = (code, frame.f_lasti) if _USERS.get(code.co_filename) else None
        draft = self.draft(plan, frozen, place)
        if draft.site is None:
            draft.site = place_of(frame)
        sequence = self._counter()
        entries = self.read(draft, plan, inputs, sequence)
        call = None
        if self._watched:
            call = OpCall(draft, function, args, kwargs or {}, inputs)
            with _disabled():
                tell(self._before, call)
        if self._timed:
            draft.began = perf_counter_ns()
        return draft, inputs, entries, sequence, call, plan, function, args, kwargs

    def draft(self, plan: Plan, frozen: Any, place: Spot | None) -> OpDraft:
        """An op begins here: in a layer or optimizer of torch's own, where that was called."""
        stack = self._stack
        phase = self._phases.now
        draft = OpDraft(plan[1], phase, stack[-1] if stack else None)
        draft.args = frozen
        if place is None and phase == "optimizer":
            place = self._optimizers.place
        if place is None and draft.call is not None:
            place = draft.call.place
        draft.site = place
        return draft

    def read(self, draft: OpDraft, plan: Plan, inputs: list[Any], sequence: int) -> list[Entry]:
        """Note what the op is about to read."""
        entries = self._flow.read_inputs(draft, inputs, sequence)
        if plan[0] == BACKWARD:  # listed before the ops it runs, not after them
            draft.phase = "backward"
            self._recorder.engine.callers.append((self._recorder.keep(draft), []))
        return entries

    def end(self, begun: _Begun, result: Any) -> None:
        if self._timed:
            begun[0].ended = perf_counter_ns()
        with _disabled():
            self.finish(begun, result)

    def _mark(self, draft: OpDraft) -> None:
        if self._lives is not None:
            self._lives.append(None)
            self._recorder.drafts.ended.append(draft)

    def finish(self, begun: _Begun, result: Any) -> None:
        """An op has run: number what it made and wrote."""
        draft, inputs, entries, sequence, call, plan, function, args, kwargs = begun
        if call is not None:
            tell(self._returned, call)
        kind = type(result)
        outputs = [result] if kind is _Tensor or is_tensor_type(kind) else tensors_in(result)
        changed = () if not kwargs and reads_only(function) else self._flow.changed_inputs(inputs, draft)
        if not outputs and not changed:
            if plan[1].endswith("_"):  # fused optimizers count no versions
                ids = written_by_schema(function, args, kwargs or {})
                changed = [place for place, tensor in enumerate(inputs) if id(tensor) in ids]
            if not changed and plan[0] == OP:
                return  # a question, not an op
        if draft.index < 0:
            draft.index = len(self._ops)
            self._ops.append(draft)
        written, nodes = self._flow.write_outputs(draft, inputs, outputs, changed, entries, sequence)
        self._mark(draft)
        if call is not None:
            call.result, call.outputs, call.nodes = result, written, nodes
            tell(self._after, call)
        if plan[0] == BACKWARD:
            draft.outputs = [*draft.outputs, *self._recorder.engine.callers.pop()[1]]

    def fail(self, begun: _Begun, error: BaseException) -> None:
        self.failed(begun[0], begun[5], f"{type(error).__name__}: {error}")

    def failed(self, draft: OpDraft, plan: Plan, error: str) -> None:
        """An op has raised."""
        if plan[0] == BACKWARD:
            self._recorder.engine.callers.pop()
        draft.error = error
        if draft.index < 0:
            self._recorder.keep(draft)


def reads_only(function: Any) -> bool:
    """Whether a function without keywords writes to none of its arguments: one of torch's own, by its name."""
    known = READ_ONLY.get(function)
    if known is None:
        built_in = isinstance(function, (BuiltinFunctionType, MethodDescriptorType))
        name = getattr(function, "__name__", "_")
        known = READ_ONLY[function] = built_in and not name.endswith("_")
    return known
