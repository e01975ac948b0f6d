"""The torch-function mode: every torch call of the user's code comes by here, once, with its arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from stepscope import fence
from stepscope.record.arguments import snapshot, tensors_in, written_by_schema
from stepscope.record.drafts import OpDraft
from stepscope.record.identity import is_tensor_type
from stepscope.record.names import BACKWARD, OP, PASS, Plan, plan_for
from stepscope.record.observer import OpCall
from stepscope.record.sites import place_of

if TYPE_CHECKING:
    from stepscope.record.recorder import Recorder

__all__ = ["FunctionMode"]

_disabled = torch._C.DisableTorchFunction


class FunctionMode(TorchFunctionMode):
    """Records each op around its call. While the op runs the mode is off, so a functional is one op."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._plans: dict[Any, Plan] = {}
        self._counter = recorder.nodes.counter
        self._before = recorder.watchers("before")
        self._returned = recorder.watchers("returned")
        self._after = recorder.watchers("after")

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plan = self._plans.get(function)
        if plan is None:
            plan = self._plans[function] = plan_for(function)
        if plan[0] == PASS:
            return function(*args, **kwargs) if kwargs else function(*args)
        kwargs = kwargs or {}
        if self._recorder.off:
            return function(*args, **kwargs)
        call = self._begin(function, plan, args, kwargs)
        if call is None:
            return function(*args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            self._failed(call, plan, error)
            raise
        self._end(call, plan, result)
        return result

    def _begin(self, function: Any, plan: Plan, args: Any, kwargs: Any) -> OpCall | None:
        try:
            recorder = self._recorder
            with _disabled():
                draft = OpDraft(plan[1], recorder.phases.now, recorder.innermost())
                call = OpCall(draft, function, args, kwargs)
                draft.args = snapshot(function, args, kwargs, call.inputs)
                if draft.phase == "optimizer" and recorder.optimizers.place is not None:
                    draft.site = recorder.optimizers.place
                else:
                    draft.site = place_of(sys._getframe(2))
                call.entries = recorder.flow.read_inputs(draft, call.inputs)
                if plan[0] == BACKWARD:  # listed before the ops it runs, not after them
                    draft.phase = "backward"
                    recorder.engine.callers.append((recorder.keep(draft), []))
                for watch in self._before:
                    watch(call)
                call.sequence = self._counter()
            return call
        except Exception as fault:
            fence.report("recording an op", fault)
            return None

    def _end(self, call: OpCall, plan: Plan, result: Any) -> None:
        try:
            with _disabled():
                for watch in self._returned:
                    watch(call)
                outputs = [result] if is_tensor_type(type(result)) else tensors_in(result)
                recorder = self._recorder
                changed = recorder.flow.changed_inputs(call.inputs, call.draft)
                if not outputs and not changed and plan[1].endswith("_"):  # fused optimizers count no versions
                    written = written_by_schema(call.function, call.args, call.kwargs)
                    changed = [place for place, tensor in enumerate(call.inputs) if id(tensor) in written]
                if not outputs and not changed and plan[0] == OP:
                    return  # a question, not an op
                call.result = result
                if call.draft.index < 0:
                    recorder.keep(call.draft)
                recorder.flow.write_outputs(call, outputs, changed, call.entries, call.sequence)
                for watch in self._after:
                    watch(call)
                if plan[0] == BACKWARD:
                    call.draft.outputs = [*call.draft.outputs, *recorder.engine.callers.pop()[1]]
        except Exception as fault:
            fence.report("recording an op", fault)

    @fence.fenced("recording an op that raised")
    def _failed(self, call: OpCall, plan: Plan, error: BaseException) -> None:
        if plan[0] == BACKWARD:
            self._recorder.engine.callers.pop()
        draft = call.draft
        draft.error = f"{type(error).__name__}: {error}"
        if draft.index < 0:
            self._recorder.keep(draft)
