"""Tensors and layers as short lines, for somebody in a debugger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from stepscope.events.quiet import quietly
from stepscope.record.statistics import stats_of
from stepscope.records.finite import is_bad, said_of

_FEW = 8
_MOST_LAYERS = 80
_MOST_INSIDE = 20


def line_of(name: str, tensor: Any) -> str:
    """One tensor: shape, dtype, device, range, NaN and Inf, where its gradient stands.

    >>> print(line_of("x", torch.tensor([1.0, float("nan"), 3.0])))
    x: 3 float32 cpu, 1 NaN of 3, from 1 to 3
    """
    shape = "x".join(str(size) for size in tensor.shape) or "scalar"
    parts = [f"{name}: {shape} {str(tensor.dtype).removeprefix('torch.')} {tensor.device}"]
    if tensor.numel() == 1 and tensor.device.type != "meta":
        with quietly():
            parts.append(f"value {tensor.detach().item():.8g}" if tensor.dtype is not torch.bool else f"{bool(tensor)}")
    else:
        parts.append(said_of(stats_of(tensor)))
    if tensor.grad_fn is not None:
        parts.append(f"from {type(tensor.grad_fn).__name__}")
    elif tensor.requires_grad:
        parts.append("leaf" if tensor.grad is None else f"leaf, gradient {said_of(stats_of(tensor.grad))}")
    return ", ".join(parts)


def lines_of(name: str, value: Any) -> Iterator[str]:
    """A tensor, or the tensors inside something; a small tensor with its values."""
    found = list(tensors_by_name({name: value}))
    if not found:
        yield f"{name} is a {type(value).__name__} and contains no tensor"
    for inner, tensor in found:
        yield line_of(inner, tensor)
    if len(found) == 1 and 1 < found[0][1].numel() <= _FEW * _FEW and found[0][1].device.type != "meta":
        with quietly():
            yield str(found[0][1].detach())


def tensors_by_name(values: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The tensors of some variables, those inside lists and dicts too: `batch[0]`, `out['logits']`."""
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            yield name, value
        elif depth < 3 and type(value) in (list, tuple):
            inside = {f"{name}[{i}]": item for i, item in enumerate(value[:_MOST_INSIDE])}
            yield from tensors_by_name(inside, depth + 1)
        elif depth < 3 and isinstance(value, Mapping) and len(value) <= _MOST_INSIDE:
            yield from tensors_by_name({f"{name}[{key!r}]": item for key, item in value.items()}, depth + 1)


def layer_lines(frames: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The layers of the model nearest to where one stands: its own `self`, or a variable of an outer frame."""
    model = _nearest_model(frames)
    if model is None:
        yield "there is no model in these frames"
        return
    modules = list(model.named_modules())
    for count, (name, module) in enumerate(modules):
        if count == _MOST_LAYERS:
            yield f"... and {len(modules) - count} more"
            return
        mode = "" if module.training == model.training else f", {'train' if module.training else 'eval'} mode"
        yield f"{name or type(model).__name__}: {_said_of_module(module)}{mode}"


def _said_of_module(module: Any) -> str:
    own = list(module.named_parameters(recurse=False))
    text = type(module).__name__ + (f"({module.extra_repr()})" if module.extra_repr() else "")
    for name, parameter in own:
        shape = "x".join(str(size) for size in parameter.shape) or "scalar"
        text += f"  {name} {shape}{'' if parameter.requires_grad else ' frozen'}{_if_bad(parameter)}"
        text += "" if parameter.grad is None or not _if_bad(parameter.grad) else f" gradient{_if_bad(parameter.grad)}"
    return text


def _if_bad(tensor: Any) -> str:
    stats = stats_of(tensor)
    return f" {said_of(stats)}" if is_bad(stats) else ""


def _nearest_model(frames: Iterable[Mapping[str, Any]]) -> Any:
    for values in frames:
        me = values.get("self")
        if isinstance(me, torch.nn.Module):
            return me
        for value in values.values():
            if isinstance(value, torch.nn.Module):
                return value
    return None
