"""Torch functions: every torch call of the user's code comes by here, once, with its arguments.

This runs around every op, so it is written for speed: what can be worked out later is not worked out here.
"""

from __future__ import annotations

from time import perf_counter_ns
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.names import BACKWARD, OP, Plan
from stepscope.record.arguments import snapshot, tensors_in, written_by_schema
from stepscope.record.drafts import OpDraft
from stepscope.record.identity import is_tensor_type
from stepscope.record.observer import OpCall, tell
from stepscope.record.sites import USERS as _USERS
from stepscope.record.sites import Place, place_of

if TYPE_CHECKING:
    from stepscope.record.identity import Entry
    from stepscope.record.recorder import Recorder

__all__ = ["Functions"]

_disabled = torch._C.DisableTorchFunction
_Tensor = torch.Tensor
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_READ_ONLY: dict[Any, bool] = {}

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
        self._tensors = recorder.tensors
        self._known = recorder.tensors.entries
        self._lives = recorder.tensors.lives
        self._timed = recorder.timed
        self._before = recorder.watchers("before")
        self._returned = recorder.watchers("returned")
        self._after = recorder.watchers("after")
        self._watched = bool(self._before or self._returned or self._after)

    def begin(self, plan: Plan, function: Any, args: Any, kwargs: Any, frame: Any) -> _Begun:
        stack = self._stack
        phase = self._phases.now
        draft = OpDraft(plan[1], phase, stack[-1] if stack else None)
        inputs: list[Any] = []
        for value in args:
            if type(value) not in _PLAIN:
                inputs = []
                draft.args = snapshot(function, args, kwargs, inputs)
                break
            inputs.append(value)
        else:
            if kwargs:
                inputs = []
                draft.args = snapshot(function, args, kwargs, inputs)
        draft.site = self._place(draft, frame)
        sequence = self._counter()
        entries = self._flow.read_inputs(draft, inputs, sequence)
        if plan[0] == BACKWARD:  # listed before the ops it runs, not after them
            draft.phase = "backward"
            self._recorder.engine.callers.append((self._recorder.keep(draft), []))
        call = None
        if self._watched:
            call = OpCall(draft, function, args, kwargs or {}, inputs)
            with _disabled():
                tell(self._before, call)
        if self._timed:
            draft.began = perf_counter_ns()
        return draft, inputs, entries, sequence, call, plan, function, args, kwargs

    def _place(self, draft: OpDraft, frame: Any) -> Place | None:
        """The user's line: in a layer of torch's own it is that which called the layer."""
        code = frame.f_code
        if _USERS.get(code.co_filename):
            return code, frame.f_lasti
        place = self._optimizers.place if draft.phase == "optimizer" else None
        if place is None and draft.call is not None:
            place = draft.call.place
        return place_of(frame) if place is None else place

    def end(self, begun: _Begun, result: Any) -> None:
        draft, inputs, entries, sequence, call, plan, function, _, kwargs = begun
        if self._timed:
            draft.ended = perf_counter_ns()
        if call is not None:
            with _disabled():
                self._end(begun, result)
        elif type(result) is _Tensor and plan[0] == OP and not kwargs and _READ_ONLY.get(function):
            # The usual op makes one tensor and writes to none.
            entry = self._known.get(id(result))
            if entry is None or entry.ref() is not result:
                entry = self._tensors.create(result, "intermediate" if entries else "constant", entries, draft)
            draft.outputs = (entry.now,)
            draft.index = len(self._ops)
            self._ops.append(draft)
            self._flow.settle(draft, [result], inputs, sequence)
            if self._lives is not None:
                self._lives.append(draft)
        else:
            self._end(begun, result)

    def _end(self, begun: _Begun, result: Any) -> None:
        draft, inputs, entries, sequence, call, plan, function, args, kwargs = begun
        if call is not None:
            tell(self._returned, call)
        kind = type(result)
        outputs = [result] if kind is _Tensor or is_tensor_type(kind) else tensors_in(result)
        changed = () if not kwargs and _reads_only(function) else self._flow.changed_inputs(inputs, draft)
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
        if self._lives is not None:
            self._lives.append(draft)
        if call is not None:
            call.result, call.outputs, call.nodes = result, written, nodes
            tell(self._after, call)
        if plan[0] == BACKWARD:
            draft.outputs = [*draft.outputs, *self._recorder.engine.callers.pop()[1]]

    def fail(self, begun: _Begun, error: BaseException) -> None:
        draft = begun[0]
        if begun[5][0] == BACKWARD:
            self._recorder.engine.callers.pop()
        draft.error = f"{type(error).__name__}: {error}"
        if draft.index < 0:
            self._recorder.keep(draft)


def _reads_only(function: Any) -> bool:
    """Whether a function without keywords writes to none of its arguments: one of torch's own, by its name."""
    known = _READ_ONLY.get(function)
    if known is None:
        built_in = isinstance(function, (BuiltinFunctionType, MethodDescriptorType))
        name = getattr(function, "__name__", "_")
        known = _READ_ONLY[function] = built_in and not name.endswith("_")
    return known
