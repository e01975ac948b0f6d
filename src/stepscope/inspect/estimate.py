"""Training memory estimated from shapes alone, beside what a recorded step measured.

What autograd saves depends on the kind of op: a convolution saves its input, a ReLU its output, an addition
nothing. Each block of memory counts once, so a forward without gradients is enough to estimate a training step.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from stepscope.common.units import bytes_text
from stepscope.errors import UsageError
from stepscope.inspect.figures import share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stepscope.records.step import Op, StepRecord, TensorInfo, TensorRef

STATE_PER_PARAMETER = {"none": 0, "sgd": 0, "momentum": 1, "adam": 2, "adamw": 2, "rmsprop": 1, "adagrad": 1, "lion": 1}

# What autograd saves, by kind of op.
_OTHERS = {  # each input, for the gradient of the others
    "linear", "bilinear", "matmul", "mm", "bmm", "mv", "dot", "addmm", "baddbmm", "einsum", "mul", "mul_", "div",
    "div_", "outer", "cdist", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
}  # fmt: skip
_OUTPUT = {"relu", "relu_", "sigmoid", "tanh", "exp", "sqrt", "rsqrt", "reciprocal", "softmax", "log_softmax", "selu"}
_RECURRENT = {"lstm": 10, "gru": 7, "rnn_tanh": 1, "rnn_relu": 1}
"""Gates and states saved per layer, in sizes of its output, as measured on a CPU; cuDNN differs."""
_BOTH = {"scaled_dot_product_attention", "lstm", "gru", "rnn_tanh", "rnn_relu"}
_NOTHING = {
    "add", "add_", "sub", "sub_", "rsub", "neg", "cat", "stack", "view", "reshape", "flatten", "unflatten", "transpose",
    "permute", "t", "swapaxes", "squeeze", "unsqueeze", "expand", "expand_as", "repeat", "contiguous", "chunk", "split",
    "unbind", "select", "narrow", "getitem", "sum", "mean", "to", "float", "half", "bfloat16", "type_as", "clone",
    "detach", "pad", "roll", "movedim", "mT", "T", "H", "mH", "interpolate", "zeros_like", "ones_like", "zeros", "ones",
    "arange", "tensor", "pixel_shuffle", "flip", "unfold", "fold", "item", "dropout",
}  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """Bytes for one training step. `measured_*` are None if the step did not measure them."""

    parameters: int
    buffers: int
    gradients: int
    optimizer_state: int
    activations: int
    """Saved from forward for backward."""
    optimizer: str
    batch_size: int | None = None
    recorded_batch_size: int | None = None
    measured_activations: int | None = None
    """The bytes that autograd actually saved, at the recorded batch size."""
    measured_peak: int | None = None
    """Peak memory, at the recorded batch size."""

    @property
    def total(self) -> int:
        return self.parameters + self.buffers + self.gradients + self.optimizer_state + self.activations

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "total": self.total}

    def lines(self) -> list[str]:
        at = f" at batch size {self.batch_size}" if self.batch_size is not None else ""
        parts = [
            f"parameters {bytes_text(self.parameters)}",
            f"gradients {bytes_text(self.gradients)}",
            f"{self.optimizer} state {bytes_text(self.optimizer_state)}",
            f"activations {bytes_text(self.activations)}",
        ]
        if self.buffers:
            parts.insert(1, f"buffers {bytes_text(self.buffers)}")
        lines = [f"memory to train{at}, estimated: {bytes_text(self.total)} ({', '.join(parts)})"]
        measured = []
        if self.measured_activations is not None:
            ratio = share(self.activations, self.measured_activations) if self._same_batch else "other batch size"
            measured.append(f"activations {bytes_text(self.measured_activations)} (estimate: {ratio} of it)")
        if self.measured_peak is not None:
            measured.append(f"peak {bytes_text(self.measured_peak)}")
        return lines + ([f"measured in this step: {', '.join(measured)}"] if measured else [])

    @property
    def _same_batch(self) -> bool:
        return self.batch_size == self.recorded_batch_size

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _check_wishes(batch_size: int | None, optimizer: str) -> None:
    if optimizer.lower() not in STATE_PER_PARAMETER:
        raise UsageError(f"optimizer is {optimizer!r}; expected one of {', '.join(STATE_PER_PARAMETER)}")
    if batch_size is not None and batch_size < 1:
        raise UsageError(f"batch_size is {batch_size}; it must be at least 1")


def estimate_memory(record: StepRecord, *, batch_size: int | None = None, optimizer: str = "adam") -> Estimate:
    """For the model of a recorded forward or step, at the recorded batch size or another."""
    _check_wishes(batch_size, optimizer)
    parameters = sum(module.parameter_bytes for module in record.modules)
    count = sum(module.parameters for module in record.modules)
    trainable = sum(module.trainable for module in record.modules)
    gradients = round(parameters * trainable / count) if count else 0
    recorded = _batch_size(record)
    kept = activation_bytes(record)
    if batch_size and recorded:
        kept = round(kept * batch_size / recorded)
    measured = sum(op.cost.saved_bytes for op in record.ops)
    peak = record.notes.get("memory", {})
    return Estimate(
        parameters=parameters,
        buffers=sum(module.buffer_bytes for module in record.modules),
        gradients=gradients,
        optimizer_state=gradients * STATE_PER_PARAMETER[optimizer.lower()],
        activations=kept,
        optimizer=optimizer,
        batch_size=batch_size or recorded,
        recorded_batch_size=recorded,
        measured_activations=measured or None,
        measured_peak=_measured_peak(peak) if measured and isinstance(peak, dict) else None,
    )


def _measured_peak(memory: dict[str, Any]) -> int | None:
    cuda = [one["peak_bytes"] for one in memory.get("cuda", {}).values() if one.get("exact")]
    return max(cuda) if cuda else memory.get("peak_bytes")


def _batch_size(record: StepRecord) -> int | None:
    """The first size of the model's first input tensor."""
    tensors = {tensor.id: tensor for tensor in record.tensors}
    for call in record.calls[:1]:
        for ref in call.inputs:
            tensor = tensors.get(ref.id)
            if tensor is not None and tensor.shape:
                return tensor.shape[0]
    return None


def activation_bytes(record: StepRecord) -> int:
    """What autograd saves of the forward and loss ops, each block of memory once, without parameters."""
    tensors = {tensor.id: tensor for tensor in record.tensors}
    trained = {tensor.id for tensor in record.tensors if _is_trained(tensor)}
    needing = set(trained)
    extra = 0
    kept: set[int] = set()

    def known(refs: Iterable[TensorRef]) -> list[TensorInfo]:
        return [tensors[ref.id] for ref in refs if ref.id in tensors]

    for op in record.ops:
        inputs, outputs = known(op.inputs), known(op.outputs)
        is_forward = op.phase not in ("backward", "optimizer", "setup")
        if not is_forward or not any(tensor.id in needing for tensor in inputs):
            continue
        needing.update(tensor.id for tensor in outputs if _differentiable(tensor))
        for tensor in _saved(op, inputs, outputs, needing):
            if tensor.kind not in ("parameter", "buffer") and tensor.id not in trained:
                kept.add(tensor.storage)
        extra += _own_memory(op, inputs, outputs)
    sizes = _storage_sizes(record)
    return sum(sizes[storage] for storage in kept) + extra


def _storage_sizes(record: StepRecord) -> dict[int, int]:
    """Bytes of each storage: its largest tensor, because a view keeps all of its memory alive."""
    sizes: dict[int, int] = {}
    for tensor in record.tensors:
        sizes[tensor.storage] = max(sizes.get(tensor.storage, 0), tensor.bytes)
    return sizes


def _is_trained(tensor: TensorInfo) -> bool:
    """A parameter, or a plain tensor that requires a gradient and that no op made."""
    return tensor.requires_grad and tensor.kind in ("parameter", "input", "constant")


def _differentiable(tensor: TensorInfo) -> bool:
    return tensor.dtype.startswith(("float", "bfloat", "complex"))


def _saved(op: Op, inputs: list[TensorInfo], outputs: list[TensorInfo], needing: set[int]) -> Iterator[TensorInfo]:
    name = op.name
    if name in _NOTHING or op.view:
        return
    if name in _OTHERS:
        for place, tensor in enumerate(inputs):
            others = inputs[:place] + inputs[place + 1 :]
            if any(other.id in needing and other.shape != () for other in others):
                yield tensor
    elif name in _OUTPUT:
        yield from outputs
    elif name in _BOTH:
        yield from (*inputs, *outputs)
    elif name in ("cross_entropy", "masked_fill", "where"):  # the targets, the mask: tensors without a gradient
        yield from (tensor for tensor in inputs if tensor.id not in needing and tensor.shape != ())
    else:  # an unknown op: most save their inputs
        yield from inputs


def _own_memory(op: Op, inputs: list[TensorInfo], outputs: list[TensorInfo]) -> int:
    """Memory an op allocates for backward beyond its inputs and outputs."""
    if not outputs or not inputs:
        return 0
    numel = _numel(outputs[0].shape)
    if op.name == "dropout" and op.args.get("p"):  # even if recorded in evaluation mode: the estimate is for training
        return numel if outputs[0].device.startswith("cuda") else outputs[0].bytes  # a mask of bool, or of floats
    if op.name == "max_pool2d":
        return numel * 8  # the position of each maximum
    if op.name == "cross_entropy":
        return inputs[0].bytes  # the log-probabilities
    if op.name in _RECURRENT:
        return outputs[0].bytes * _RECURRENT[op.name] * int(op.args.get("num_layers") or 1)
    if op.name in ("layer_norm", "group_norm") and inputs[0].shape:
        rows = _numel(inputs[0].shape) // max(inputs[0].shape[-1], 1)
        return rows * 8 if op.name == "layer_norm" else 0  # mean and deviation of each row
    return 0


def _numel(shape: tuple[int, ...]) -> int:
    total = 1
    for one in shape:
        total *= one
    return total
