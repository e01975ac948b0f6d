"""Which of the ways in which dtypes go wrong this crash is, and the tensor that has the wrong one."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import Step, story
from stepscope.evidence.frame_values import HeldTensor

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
    tensor: HeldTensor
    other: HeldTensor
    """What it met; itself where the fault is its own."""
    other_name: str = ""
    op: str = ""


def dtype_fault(crash: Crash) -> DtypeFault | None:
    if "_dtype_fault" not in vars(crash):
        vars(crash)["_dtype_fault"] = _decide(crash)
    found: DtypeFault | None = vars(crash)["_dtype_fault"]
    return found


def _decide(crash: Crash) -> DtypeFault | None:
    if not crash.is_a("RuntimeError", "IndexError", "TypeError", "ValueError") or not crash.says(*_SIGNS):
        return None
    call = loss_call(crash, *_LABELS)
    if call is not None:
        return _of_labels(call)
    call = loss_call(crash, *_VALUES)
    if call is not None and not call.target.is_floating:
        return DtypeFault("bce-int-target", call.target_name, call.target, call.input, op=call.function)
    return _of_index(crash) or _of_floats(crash)


@dataclass(frozen=True)
class Comparison:
    """A call of a loss: what it was given."""

    function: str
    input: HeldTensor
    target: HeldTensor
    target_name: str = "target"


def loss_call(crash: Crash, *functions: str) -> Comparison | None:
    """The loss that was being computed."""
    for frame in crash.frames:
        if not frame.own and frame.function in functions:
            names = frame.arguments
            given, target = frame.locals.get(names[0]), frame.locals.get(names[1])
            if isinstance(given, HeldTensor) and isinstance(target, HeldTensor):
                return Comparison(frame.function, given, target, names[1])
    failed = crash.failed
    if failed is not None and failed.op in functions and len(failed.origins) >= 2:
        given, target = map(HeldTensor.left, failed.origins[:2])
        return Comparison(failed.op, given, target)
    return None


def _of_labels(call: Comparison) -> DtypeFault | None:
    given, target = call.input, call.target
    classes = given.ndim - target.ndim == 1
    if target.dtype == "int64" and (classes or target.shape[:1] != given.shape[:1]):
        return None
    return DtypeFault("ce-float-target", call.target_name, target, given, op=call.function)


def _of_index(crash: Crash) -> DtypeFault | None:
    found = crash.operation
    op = found.op if found is not None else ""
    if op not in _INDEXERS and not crash.says(_SIGNS[-1]):
        return None
    for name, tensor in reversed(crash.operands):
        if tensor.is_floating and not tensor.requires_grad and name not in ("self.weight", "weight"):
            return DtypeFault("index-float", name, tensor, tensor, op=op)
    return None


def _of_floats(crash: Crash) -> DtypeFault | None:
    """Operands of different dtypes: the one that is neither a parameter nor the usual dtype is at fault."""
    layer = crash.layer
    pairs = list(crash.operands)
    if layer is not None and layer.is_torchs:
        pairs = [*layer.inputs, *layer.parameters()]
    kinds = {tensor.dtype for _, tensor in pairs}
    if len(kinds) < 2:
        return None
    usual = crash.default_dtype
    weights = [pair for pair in pairs if pair[1].requires_grad] or [p for p in pairs if p[1].dtype == usual]
    for name, tensor in pairs:
        other = next((pair for pair in weights if pair[1].dtype != tensor.dtype), None)
        if other is not None and tensor.dtype != usual and not tensor.is_parameter:
            op = "" if crash.operation is None else crash.operation.op
            return DtypeFault("double-float", name, tensor, other[1], other[0], op)
    cast = next((pair for pair in pairs if pair[1].is_parameter and pair[1].dtype != usual), None)
    given = next((pair for pair in pairs if pair[1].dtype == usual and not pair[1].is_parameter), None)
    if cast is not None and given is not None:
        return DtypeFault("double-float", cast[0], cast[1], given[1], given[0])
    return None


def source_of(crash: Crash, tensor: HeldTensor, *ops: str) -> Step | None:
    """The step of a tensor's past that gave it its dtype: the nearest of `ops`, else where it was made."""
    wanted = ops or _MAKE_DOUBLE
    return next((step for step in _past(crash, tensor) if step.op in wanted and step.site is not None), None)


def _past(crash: Crash, tensor: HeldTensor) -> list[Step]:
    if not tensor.gone or tensor.origin is None:
        return story(crash, tensor)
    every = tensor.origin.ancestors(200)
    return [Step(past.op, past.place.site) for past in every if past.op and past.place is not None]
