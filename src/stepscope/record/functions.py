"""The torch-function mode: every torch call of the user's code comes by here, once, with its arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from stepscope import fence
from stepscope.events.names import BACKWARD, OP, PASS, Plan, plan_for
from stepscope.record.arguments import snapshot, tensors_in, written_by_schema
from stepscope.record.drafts import OpDraft
from stepscope.record.identity import is_tensor_type
from stepscope.record.observer import OpCall, tell
from stepscope.record.sites import place_of

if TYPE_CHECKING:
    from stepscope.record.identity import Entry
    from stepscope.record.recorder import Recorder

__all__ = ["FunctionMode"]

_disabled = torch._C.DisableTorchFunction
_other_modes = torch._C._len_torch_function_stack
_Tensor = torch.Tensor

_Begun = tuple[OpDraft, list[Any], "list[Entry]", int, OpCall | None]
"""An op that is running: its draft, the tensors it reads and what is known of them, autograd's counter, and what
observers are shown (None when nobody watches)."""


class FunctionMode(TorchFunctionMode):
    """Records each op around its call. While the op runs the mode is off, so a functional is one op."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._plans: dict[Any, Plan] = {}
        self._counter = recorder.nodes.counter
        self._phases = recorder.phases
        self._stack = recorder.modules.stack
        self._optimizers = recorder.optimizers
        self._ops = recorder.drafts.ops
        self._read = recorder.flow.read_inputs
        self._changed = recorder.flow.changed_inputs
        self._write = recorder.flow.write_outputs
        self._before = recorder.watchers("before")
        self._returned = recorder.watchers("returned")
        self._after = recorder.watchers("after")
        self._watched = bool(self._before or self._returned or self._after)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plan = self._plans.get(function)
        if plan is None:
            plan = self._plans[function] = plan_for(function)
        if plan[0] == PASS or self._recorder.off:
            return function(*args, **kwargs) if kwargs else function(*args)
        # Subclasses and other modes would see what we ask of tensors; without them there is nothing to switch off.
        shielded = types or _other_modes()
        if shielded:
            with _disabled():
                begun = self._begin(function, plan, args, kwargs)
        else:
            begun = self._begin(function, plan, args, kwargs)
        if begun is None:
            return function(*args, **kwargs) if kwargs else function(*args)
        try:
            result = function(*args, **kwargs) if kwargs else function(*args)
        except BaseException as error:
            self._failed(begun[0], plan, error)
            raise
        if shielded or type(result) is not _Tensor or self._watched:
            with _disabled():
                self._end(begun, plan, function, args, kwargs, result)
        else:
            self._end(begun, plan, function, args, kwargs, result)
        return result

    def _begin(self, function: Any, plan: Plan, args: Any, kwargs: Any) -> _Begun | None:
        try:
            stack = self._stack
            phase = self._phases.now
            draft = OpDraft(plan[1], phase, stack[-1] if stack else None)
            inputs: list[Any] = []
            draft.args = snapshot(function, args, kwargs, inputs)
            place = self._optimizers.place if phase == "optimizer" else None
            draft.site = place_of(sys._getframe(2)) if place is None else place
            entries = self._read(draft, inputs)
            if plan[0] == BACKWARD:  # listed before the ops it runs, not after them
                draft.phase = "backward"
                self._recorder.engine.callers.append((self._recorder.keep(draft), []))
            call = None
            if self._watched:
                call = OpCall(draft, function, args, kwargs or {}, inputs)
                with _disabled():
                    tell(self._before, call)
            return draft, inputs, entries, self._counter(), call
        except Exception as fault:
            fence.report("recording an op", fault)
            return None

    def _end(self, begun: _Begun, plan: Plan, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        try:
            draft, inputs, entries, sequence, call = begun
            if call is not None:
                tell(self._returned, call)
            kind = type(result)
            outputs = [result] if kind is _Tensor or is_tensor_type(kind) else tensors_in(result)
            changed = self._changed(inputs, draft)
            if not outputs and not changed:
                if plan[1].endswith("_"):  # fused optimizers count no versions
                    ids = written_by_schema(function, args, kwargs or {})
                    changed = [place for place, tensor in enumerate(inputs) if id(tensor) in ids]
                if not changed and plan[0] == OP:
                    return  # a question, not an op
            if draft.index < 0:
                draft.index = len(self._ops)
                self._ops.append(draft)
            written, nodes = self._write(draft, inputs, outputs, changed, entries, sequence)
            if call is not None:
                call.result, call.outputs, call.nodes = result, written, nodes
                tell(self._after, call)
            if plan[0] == BACKWARD:
                draft.outputs = [*draft.outputs, *self._recorder.engine.callers.pop()[1]]
        except Exception as fault:
            fence.report("recording an op", fault)

    @fence.fenced("recording an op that raised")
    def _failed(self, draft: OpDraft, plan: Plan, error: BaseException) -> None:
        if plan[0] == BACKWARD:
            self._recorder.engine.callers.pop()
        draft.error = f"{type(error).__name__}: {error}"
        if draft.index < 0:
            self._recorder.keep(draft)
