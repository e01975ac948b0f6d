"""The norm of all gradients together, in as few calls as torch allows, without waiting for a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from stepscope.events.unpatched_torch import raw

_HALVES = (torch.float16, torch.bfloat16)
"""Squares overflow a half long before the gradient does."""
_WIDE_TOGETHER = any(one.name == "dtype" for one in torch.ops.aten._foreach_norm.Scalar._schema.arguments)
"""Whether one call can sum halves in float32 (since torch 2.4)."""
_FEW = 1 << 17
"""Values that are brought together first: one norm of that many in float32 is off by 5e-6 at most."""
_MOST_ROWS = 16
_has_foreach_copy = hasattr(torch, "_foreach_copy_")
_rows: dict[Any, tuple[Any, Any]] = {}
_not_together: set[int] = set()
"""So many gradients could not be measured in one call before: that is not tried, and does not fail, at every step."""


def total_norm(gradients: list[Any] | tuple[Any, ...]) -> Any:
    """The norm of all gradients together, as a tensor where they are; None inside the capture of a CUDA graph."""
    dtype = _common_dtype(gradients)
    if dtype is not None:
        if gradients[0].is_cuda and torch.cuda.is_current_stream_capturing():
            return None
        try:
            return _norm_together(gradients, torch.float32 if dtype in _HALVES else None)
        except RuntimeError:  # sparse ones, or on several devices
            _not_together.add(len(gradients))
    return _norm_by_kind(gradients)


def _common_dtype(gradients: Sequence[Any]) -> torch.dtype | None:
    """That of plain tensors that one call can measure: the usual case, asked at every step."""
    if set(map(type, gradients)) != {torch.Tensor} or torch.is_grad_enabled() or len(gradients) in _not_together:
        return None
    dtypes = {gradient.dtype for gradient in gradients}
    dtype = dtypes.pop()
    return None if dtypes or (dtype in _HALVES and not _WIDE_TOGETHER) else dtype


def _norm_together(gradients: list[Any] | tuple[Any, ...], wide: torch.dtype | None) -> Any:
    if sum(map(torch.Tensor.numel, gradients)) <= _FEW:
        return torch.linalg.vector_norm(torch._C._nn.flatten_dense_tensors(list(gradients)), dtype=wide)
    norms = raw._foreach_norm(gradients) if wide is None else raw._foreach_norm(gradients, 2, wide)
    if gradients[0].is_cuda and _has_foreach_copy:
        return torch.linalg.vector_norm(_in_a_row(norms))
    return torch.linalg.vector_norm(raw.stack(norms))


def _in_a_row(norms: list[Any] | tuple[Any, ...]) -> Any:
    """`torch.stack(norms)` into our own memory, in one call to a device where stacking is a call for each of them."""
    first = norms[0]
    stream = torch._C._cuda_getCurrentRawStream(first.get_device()) if first.is_cuda else 0
    key = (stream, first.get_device(), first.dtype, len(norms))  # work on one stream is done in order
    row, places = _rows.get(key, (None, None))
    if row is None:
        if len(_rows) >= _MOST_ROWS:
            _rows.clear()
        row = raw.empty(len(norms), dtype=first.dtype, device=first.device)
        _rows[key] = row, row.unbind()
        places = _rows[key][1]
    raw._foreach_copy_(places, norms, non_blocking=True)
    return row


def _norm_by_kind(gradients: Sequence[Any]) -> Any:
    by_device: dict[Any, list[Any]] = {}
    for gradient in gradients:
        local = gradient
        if type(gradient) is not torch.Tensor:  # of a sharded one this rank's part: no communication
            local = getattr(gradient, "_local_tensor", gradient)
        if local.layout is not torch.strided:
            local = local._values() if local.layout is torch.sparse_coo else local.values()
        by_device.setdefault((local.device, local.dtype), []).append(
            raw.detach(local) if local.requires_grad else local
        )
    if any(device.type == "cuda" for device, _ in by_device) and torch.cuda.is_current_stream_capturing():
        return None
    parts = []
    for (_, dtype), tensors in by_device.items():
        if dtype in _HALVES:
            norms = [torch.linalg.vector_norm(tensor, dtype=torch.float32) for tensor in tensors]
        else:
            norms = list(raw._foreach_norm(tensors))
        parts.append(torch.linalg.vector_norm(raw.stack(norms)))
    if len(parts) == 1:
        return parts[0]
    device = parts[0].device
    return torch.linalg.vector_norm(
        raw.stack([raw.to(part, device, torch.float32, non_blocking=True) for part in parts])
    )
