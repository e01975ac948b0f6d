"""Which of the ways in which dtypes go wrong this crash is, and the tensor that has the wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import Step, story

__all__ = ["DtypeFault", "Kept", "dtype_fault", "loss_call", "source_of"]

_SIGNS = (
    r"same d?type|same datatype|does not match weight dtype|scalar type",
    r"found dtype|result type|can't be cast",
    r"input type \(",
    r"target dtype|class probabilities|multi-target not supported|not implemented for '",
    r"used as indices must be|expected dtype int|dtype of indices|applicable to index tensor|for argument #\d 'ind",
)
_LABELS = ("cross_entropy", "nll_loss", "nll_loss2d", "cross_entropy_loss", "nll_loss_nd")
_VALUES = (
    *("binary_cross_entropy", "binary_cross_entropy_with_logits"),
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"),
)
_INDEXERS = ("embedding", "embedding_bag", "gather", "index_select", "scatter", "scatter_", "scatter_add_", "getitem",
             "setitem", "take_along_dim", "index_add_", "one_hot", "take")  # fmt: skip
_MAKE_DOUBLE = ("from_numpy", "tensor", "as_tensor", "double", "asarray", "DoubleTensor", "frombuffer")


@dataclass(frozen=True)
class DtypeFault:
    """The tensor with the wrong dtype, and what it met."""

    kind: str
    name: str
    tensor: Any
    other_name: str = ""
    other: Any = None
    op: str = ""


def dtype_fault(crash: Crash) -> DtypeFault | None:
    known: DtypeFault | None = crash.__dict__.get("_dtype_fault")
    if known is None:
        known = crash.__dict__["_dtype_fault"] = _decide(crash) or DtypeFault("", "", None)
    return known if known.kind else None


def _decide(crash: Crash) -> DtypeFault | None:
    if not isinstance(crash.error, (RuntimeError, IndexError, TypeError, ValueError)) or not crash.says(*_SIGNS):
        return None
    call = loss_call(crash, *_LABELS)
    if call is not None:
        return _of_labels(*call)
    call = loss_call(crash, *_VALUES)
    if call is not None and not call[3].is_floating_point:
        return DtypeFault("bce-int-target", call[2], call[3], call[0], call[1], call[4])
    return _of_index(crash) or _of_floats(crash)


def loss_call(crash: Crash, *functions: str) -> tuple[str, Any, str, Any, str] | None:
    """The loss that was being computed: name and tensor of its input, name and tensor of its target, and its own."""
    for frame in crash.frames:
        if not frame.own and frame.function in functions:
            names = frame.code.co_varnames
            given, target = frame.locals.get(names[0]), frame.locals.get(names[1])
            if isinstance(given, torch.Tensor) and isinstance(target, torch.Tensor):
                return names[0], Kept(given), names[1], Kept(target), frame.function
    failed = crash.failed
    if failed is not None and failed.op in functions and len(failed.origins) >= 2:
        given, target = failed.origins[:2]
        return "input", Kept(given), "target", Kept(target), failed.op
    return None


class Kept:
    """A tensor, or what the trail kept of one, asked for its dtype and shape alike."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.shape = tuple(thing.shape)
        self.dtype: torch.dtype = thing.dtype
        self.is_floating_point = thing.dtype.is_floating_point


def _of_labels(given_name: str, given: Kept, name: str, target: Kept, op: str) -> DtypeFault | None:
    classes = len(given.shape) - len(target.shape) == 1
    if target.dtype == torch.int64 and (classes or target.shape[:1] != given.shape[:1]):
        return None
    return DtypeFault("ce-float-target", name, target, given_name, given, op)


def _of_index(crash: Crash) -> DtypeFault | None:
    found = crash.operation
    op = found.op if found is not None else ""
    if op not in _INDEXERS and not crash.says(_SIGNS[-1]):
        return None
    for name, tensor in reversed(crash.operands):
        if tensor.dtype.is_floating_point and not tensor.requires_grad and name not in ("self.weight", "weight"):
            return DtypeFault("index-float", name, Kept(tensor), op=op)
    return None


def _of_floats(crash: Crash) -> DtypeFault | None:
    """Operands of different dtypes: the one that is no parameter and not the usual dtype is at fault."""
    layer = crash.layer
    pairs = list(crash.operands)
    if layer is not None and layer.is_torchs:
        pairs = [*layer.inputs, *layer.module.named_parameters(recurse=False)]
    kinds = {tensor.dtype for _, tensor in pairs}
    if len(kinds) < 2:
        return None
    usual = torch.get_default_dtype()
    weights = [pair for pair in pairs if pair[1].requires_grad] or [p for p in pairs if p[1].dtype == usual]
    for name, tensor in pairs:
        other = next((pair for pair in weights if pair[1].dtype != tensor.dtype), None)
        if other is not None and tensor.dtype != usual and not isinstance(tensor, torch.nn.Parameter):
            op = "" if crash.operation is None else crash.operation.op
            return DtypeFault("double-float", name, Kept(tensor), other[0], Kept(other[1]), op)
    return None


def source_of(crash: Crash, kept: Kept, *ops: str) -> Step | None:
    """The step of a tensor's past that gave it its dtype: the nearest of `ops`, else where it was made."""
    wanted = ops or _MAKE_DOUBLE
    steps = _past(crash, kept)
    return next((step for step in steps if step.op in wanted and step.site is not None), None)


def _past(crash: Crash, kept: Kept) -> list[Step]:
    if isinstance(kept.thing, torch.Tensor):
        return story(crash, kept.thing)
    origin = getattr(kept.thing, "origin", kept.thing)
    return [Step(past.op, past.place.site) for past in origin.ancestors(200) if past.op and past.place is not None]
