"""Depth "aten": every ATen operator, also inside functionals, backward and scripted code.

Below autograd an op has no `grad_fn` yet: forward and backward are tied by autograd's sequence number, which is the
node's own when the op runs under it, and that of the node now executing during backward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.arguments import snapshot, tensors_in, written_by_schema
from stepscope.record.op_observer import OpCall, tell
from stepscope.record.sites import place_of
from stepscope.record.step_builder import OpDraft

if TYPE_CHECKING:
    from stepscope.record.identity import Entry
    from stepscope.record.recorder import Recorder

_disabled = torch._C.DisableTorchFunction
_executing = getattr(torch._C, "_current_autograd_node", None)
_Begun = tuple[OpCall, "list[Entry]"]


class Operators:
    """Records each operator around its call; an `events.dispatch.OperatorFollower`."""

    who = "recording an operator"

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._makers: dict[int, OpDraft] = {}
        self._before = recorder.watchers("before")
        self._returned = recorder.watchers("returned")
        self._after = recorder.watchers("after")

    @property
    def paused(self) -> int:
        return int(self._recorder.off)

    def begin(self, function: Any, args: Any, kwargs: Any, frame: Any) -> _Begun:
        recorder = self._recorder
        with _disabled():
            draft = OpDraft(str(function), recorder.phases.now, recorder.innermost())
            call = OpCall(draft, function, args, kwargs, [])
            draft.args = snapshot(function, args, kwargs, call.inputs)
            self._tie(draft)
            if draft.site is None:
                draft.site = place_of(frame)
            entries = recorder.flow.read_inputs(draft, call.inputs, recorder.sequence())
            tell(self._before, call)
            return call, entries

    def _tie(self, draft: OpDraft) -> None:
        node = _executing() if _executing is not None and self._recorder.phases.in_backward else None
        if node is None:
            self._makers.setdefault(self._recorder.sequence() - 1, draft)
            return
        maker = self._makers.get(node._sequence_nr())
        if maker is not None:
            draft.forward, draft.call, draft.site = maker, maker.call, maker.site
            name = type(node).__name__
            if name not in maker.backward:
                maker.backward = [*maker.backward, name]

    def _settle_versions(self, call: OpCall, entries: list[Entry]) -> None:
        """Versions as they will be: after we return, a written tensor's is raised and a view gets its base's."""
        tensors, draft = self._recorder.tensors, call.draft
        written = written_by_schema(call.function, call.args, call.kwargs)
        for place, tensor in enumerate(call.inputs):
            if id(tensor) in written:
                draft.inplace = True
                ref = (entries[place].number, draft.inputs[place][1] + 1)
                draft.outputs = [old for old in draft.outputs if old[0] != ref[0]] + [ref]
                tensors.write(entries[place], ref[1], draft)
        for place, ref in enumerate(draft.outputs):
            made = tensors.all[ref[0]]
            entry = tensors.known(call.outputs[place]) if place < len(call.outputs) else None
            if made.view_of is not None and entry is not None and entry.number == ref[0] and not written:
                shared = [v for number, v in draft.inputs if tensors.all[number].storage == made.storage]
                version = shared[0] if shared else ref[1]
                draft.outputs = [*draft.outputs[:place], (ref[0], version), *draft.outputs[place + 1 :]]
                tensors.write(entry, version, draft)

    def end(self, begun: _Begun, result: Any) -> None:
        call, entries = begun
        recorder = self._recorder
        with _disabled():
            tell(self._returned, call)
            outputs = tensors_in(result)
            call.result = result
            recorder.keep(call.draft)
            flow = recorder.flow
            call.outputs, call.nodes = flow.write_outputs(
                call.draft, call.inputs, outputs, [], entries, recorder.sequence()
            )
            self._settle_versions(call, entries)
            tell(self._after, call)

    def fail(self, begun: _Begun, error: BaseException) -> None:
        draft = begun[0].draft
        draft.error = f"{type(error).__name__}: {error}"
        self._recorder.keep(draft)
