"""A tensor at a crash as a record: its header, its range on a CPU, and what its graph tells."""

from __future__ import annotations

from typing import Any

import torch

from stepscope import fence
from stepscope.events.quiet import quietly
from stepscope.evidence.frame_values import GraphStep, HeldTensor
from stepscope.record.observers.names import device_name, dtype_name

_COUNTED = 4_000_000  # elements; the range of a larger tensor is left out, it would take noticeable time
_LONGEST = 60
_MOST_NODES = 200
_LEAF = "AccumulateGrad"


@fence.fenced("describing a tensor")
def described(tensor: torch.Tensor) -> HeldTensor | None:
    """The record of a tensor, without its range and its past; None for one that has no sizes (nested, lazy)."""
    try:
        shape = tuple(int(n) for n in tensor.shape)
    except RuntimeError:
        return None
    found = HeldTensor(shape, dtype_name(tensor.dtype), device_name(tensor.device))
    found.requires_grad, found.is_leaf = bool(tensor.requires_grad), bool(tensor.is_leaf)
    found.is_parameter = isinstance(tensor, torch.nn.Parameter)
    # Asking a tensor that is not a leaf for its gradient warns the user of something they did not do.
    found.has_grad = (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None
    found.has_graph = tensor.grad_fn is not None
    found.made_by = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else ""
    found.bytes = tensor.numel() * tensor.element_size()
    if not tensor.is_inference():
        found.version = int(tensor._version)
    return found


@fence.fenced("reading a tensor's range")
def extremes(tensor: torch.Tensor) -> tuple[float, float] | None:
    """Smallest and largest value; None for what is large, empty, or on a device that may be broken by now."""
    if tensor.device.type != "cpu" or not 0 < tensor.numel() <= _COUNTED or tensor.layout != torch.strided:
        return None
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):  # it has left its `vmap`, and no op may read it
        return None
    if tensor.is_quantized or tensor.is_complex() or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    with quietly():
        plain = tensor.detach()
        low, high = (plain.to(torch.uint8) if plain.dtype == torch.bool else plain).aminmax()
        return low.item(), high.item()


@fence.fenced("reading a tensor's graph", [])
def graph_behind(tensor: torch.Tensor) -> list[GraphStep]:
    """The ops a tensor came through, the nearest first, along its first input that is not a parameter."""
    found: list[GraphStep] = []
    node: Any = tensor.grad_fn
    while node is not None and len(found) < _LONGEST and not node.name().endswith(_LEAF):
        sizes = getattr(node, "_saved_self_sym_sizes", None)
        before = tuple(int(n) for n in sizes) if isinstance(sizes, (tuple, list)) else None
        found.append(GraphStep(node.name(), before))
        node = _onwards(node)
    return found


def _onwards(node: Any) -> Any:
    """The next node back that is not a parameter; a transposed weight leads to nothing else."""
    for source, _ in node.next_functions:
        if source is None or source.name().endswith(_LEAF):
            continue
        turned = source.name().rstrip("0123456789").removesuffix("Backward") in ("T", "Transpose")
        if turned and all(further is None or further.name().endswith(_LEAF) for further, _ in source.next_functions):
            continue
        return source
    return None


@fence.fenced("reading the parameters of a graph", [])
def parameters_behind(tensor: torch.Tensor) -> list[Any]:
    """The leaves of a tensor's graph, the nearest first."""
    found: list[Any] = []
    queue: list[Any] = [tensor.grad_fn]
    seen: set[int] = set()
    for node in queue:
        if node is None or id(node) in seen or len(seen) > _MOST_NODES:
            continue
        seen.add(id(node))
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable)
        queue.extend(source for source, _ in node.next_functions)
    return found
