"""`torch.func`: tensors go into a transform wrapped and come out unwrapped; both crossings are written down as ops.

Inside the transform the ops are seen as the user wrote them, with the shapes of one example. What the transform itself
computes (the batched kernel, the gradient's own graph) is not.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.record.identity import is_tensor_type
from stepscope.record.step_builder import OpDraft

if TYPE_CHECKING:
    from stepscope.record.recorder import Recorder

_CROSSINGS = (
    "torch._functorch.vmap:_add_batch_dim",
    "torch._functorch.vmap:_remove_batch_dim",
    "torch._functorch.eager_transforms:_wrap_for_grad",
    "torch._functorch.eager_transforms:_unwrap_for_grad",
)
_NOT_SEEN = "inside torch.func transforms: shapes are those of one example, and their backward is not recorded"


def install(recorder: Recorder) -> None:
    """Watch the doors of vmap and grad. Nothing is imported for it: without these modules nobody has used them yet."""
    for point in _CROSSINGS:
        name = point.rpartition(":")[2].strip("_")
        recorder.installed.wrap(point, partial(_layer, recorder, name))


def _layer(recorder: Recorder, name: str, crossing: Any) -> Any:
    def cross(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = crossing(tensor, *args, **kwargs)
        if recorder.depth == "ops" and recorder.listens() and is_tensor_type(type(tensor)) and result is not tensor:
            _noted(recorder, name, tensor, result)
        return result

    return cross


@fence.fenced("recording a torch.func transform")
def _noted(recorder: Recorder, name: str, tensor: Any, result: Any) -> None:
    with torch._C.DisableTorchFunction():
        recorder.drafts.not_seen(_NOT_SEEN)
        if not is_tensor_type(type(result)):
            return
        if recorder.tape is not None:
            recorder.tape.cross(name, tensor, result)
        else:
            write_down(recorder, name, tensor, result)


def write_down(recorder: Recorder, name: str, tensor: Any, result: Any) -> None:
    """List a crossing as an op."""
    draft = OpDraft(name, recorder.phases.now, recorder.innermost())
    entries = recorder.flow.read_inputs(draft, [tensor], recorder.sequence())
    recorder.keep(draft)
    recorder.flow.write_outputs(draft, [tensor], [result], [], entries, recorder.sequence())
