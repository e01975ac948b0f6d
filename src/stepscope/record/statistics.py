"""What a tensor holds, in a few numbers: counts of NaN, Inf and zeros; minimum, maximum, mean, std and norm.

On a CPU a few fast passes over a tensor that is all finite, more only where something is wrong. On a device the numbers
stay there as one small tensor each (`measure`) and are read together at the end (`resolve`), so nothing waits.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.record.op_observer import Observer, OpCall
from stepscope.records.step import Stats

if TYPE_CHECKING:
    from stepscope.record.step_builder import Drafts, OpDraft, Ref

_CHUNK = 4096
_wrapped: Callable[[Any], bool] | None = getattr(
    getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None
)


class Pending:
    """Statistics still on their way from a device."""

    __slots__ = ("numbers", "numel")

    def __init__(self, numel: int, numbers: Any) -> None:
        self.numel = numel
        self.numbers = numbers
        """On the device: nan, +inf, -inf, zeros, min, max, sum, sum of squares (of what is finite)."""


def stats_of(tensor: Any) -> Stats | None:
    """The statistics now; waits for the device where the tensor lies on one. None for what has no values to look at.

    >>> stats_of(torch.tensor([1.0, float("nan"), 3.0])).nan
    1
    """
    return resolve([measure(tensor)])[0]


def measure(tensor: Any) -> Stats | Pending | None:
    """The statistics if that needs no waiting, else a promise for `resolve`."""
    with quietly():
        plain = _values(tensor)
        if plain is None:
            return None
        values, implied_zeros = plain
        if values.device.type == "cpu":
            stats = _on_cpu(values)
            return _with_zeros(stats, implied_zeros) if implied_zeros else stats
        if values.numel() == 0:
            return Stats(numel=implied_zeros, zeros=implied_zeros)
        if values.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            return None  # our kernels would become part of the user's graph
        numbers = _on_device(values)
        numbers[3] += implied_zeros
        return Pending(values.numel() + implied_zeros, numbers)


def resolve(measured: Sequence[Stats | Pending | None]) -> list[Stats | None]:
    """Read what is pending, one wait for each device."""
    pending = [item for item in measured if isinstance(item, Pending)]
    read: dict[int, list[float]] = {}
    with quietly():
        for device in {item.numbers.device for item in pending}:
            here = [item for item in pending if item.numbers.device == device]
            rows = torch.stack([item.numbers for item in here]).tolist()
            read.update((id(item), row) for item, row in zip(here, rows, strict=True))
    return [_from_numbers(item.numel, read[id(item)]) if isinstance(item, Pending) else item for item in measured]


def _values(tensor: Any) -> tuple[Any, int] | None:
    """A plain strided tensor of the values, and how many zeros are implied; None when there are none to see."""
    if (_wrapped is not None and _wrapped(tensor)) or tensor.device.type == "meta":
        return None
    tensor = local_of(tensor)
    if tensor is None:
        return None
    tensor = tensor.detach()
    if tensor.is_quantized:
        return tensor.dequantize(), 0
    if tensor.layout is torch.sparse_coo:
        values = tensor._values() if tensor.is_coalesced() else tensor.coalesce().values()
        return values, tensor.numel() - values.numel()
    if tensor.layout is not torch.strided:
        if tensor.is_nested:
            return tensor.values(), 0
        return tensor.values(), max(0, tensor.numel() - tensor.values().numel())
    return tensor, 0


def local_of(tensor: Any) -> Any:
    """The tensor itself, or this rank's part of a DTensor: looking at the whole would communicate. None for others."""
    return getattr(tensor, "_local_tensor", None) if _has_own_dispatch(tensor) else tensor


def is_transformed(tensor: Any) -> bool:
    """Whether it has no plain values to look at: inside vmap, or of a class with a dispatch of its own (a DTensor)."""
    return (_wrapped is not None and _wrapped(tensor)) or _has_own_dispatch(tensor)


def _has_own_dispatch(tensor: Any) -> bool:
    kind = type(tensor)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        return False
    return getattr(kind, "__torch_dispatch__", None) is not torch.Tensor.__torch_dispatch__


def _as_real(values: Any) -> Any:
    """Floats wide enough to sum: magnitudes of complex numbers, integers and booleans as they are."""
    if values.is_complex():
        return values.abs().float() if values.dtype is torch.complex32 else values.abs()
    if values.dtype is torch.bool:
        return values.view(torch.uint8)
    if values.is_floating_point() and values.element_size() < 4:
        return values.float()
    return values


def _on_cpu(values: Any) -> Stats:
    count = int(values.numel())
    if count == 0:
        return Stats(numel=0)
    real = _as_real(values)
    low, high = (float(edge) for edge in torch.aminmax(real))
    if not (math.isfinite(low) and math.isfinite(high)):
        return _not_finite(values, real)
    zeros = count - int(torch.count_nonzero(real)) if low <= 0 <= high else 0
    if low == high:
        return Stats(numel=count, zeros=zeros, min=low, max=high, mean=low, std=0.0, norm=abs(low) * math.sqrt(count))
    mean, norm = _mean_and_norm(real, count)
    return Stats(numel=count, zeros=zeros, min=low, max=high, mean=mean, std=_std(real, count, mean, norm), norm=norm)


def _mean_and_norm(real: Any, count: int) -> tuple[float, float]:
    if not real.is_floating_point():
        real = real.double()
    total = float(real.sum())
    norm = _norm(real, count)
    if not (math.isfinite(total) and math.isfinite(norm)) or (norm == 0 and real.dtype is torch.float32):
        wide = real.double()  # sums or squares beyond the range of float32
        total, norm = float(wide.sum()), float(torch.linalg.vector_norm(wide))
    return total / count, norm


def _norm(real: Any, count: int) -> float:
    """In pieces: one long sum of squares in float32 is off by up to a percent for tens of millions of values."""
    if count <= 16 * _CHUNK or real.dtype is torch.float64 or not real.is_contiguous():
        return float(torch.linalg.vector_norm(real if count <= 16 * _CHUNK else real.double()))
    flat = real.view(-1)
    whole = count // _CHUNK * _CHUNK
    parts = torch.linalg.vector_norm(flat[:whole].view(-1, _CHUNK), dim=1).double()
    rest = torch.linalg.vector_norm(flat[whole:]).double() if whole < count else parts.new_zeros(())
    return math.hypot(float(torch.linalg.vector_norm(parts)), float(rest))


def _std(real: Any, count: int, mean: float, norm: float) -> float:
    """From the norm where that is exact enough; where the mean dwarfs the spread, by the slower two passes."""
    variance = norm * norm / count - mean * mean
    if variance > 1e-3 * mean * mean and math.isfinite(variance):
        return math.sqrt(variance)
    return float(torch.std(real.double(), correction=0))


def _not_finite(values: Any, real: Any) -> Stats:
    nan = torch.isnan(values)
    infinite = torch.isinf(values) & ~nan
    finite = real[~(nan | infinite)]
    above = int((infinite & (real > 0)).sum())
    seen = _on_cpu(finite)
    return Stats(
        numel=int(values.numel()),
        nan=int(nan.sum()),
        pos_inf=above,
        neg_inf=int(infinite.sum()) - above,
        zeros=seen.zeros,
        min=seen.min,
        max=seen.max,
        mean=seen.mean,
        std=seen.std,
        norm=seen.norm,
    )


def _on_device(values: Any) -> Any:
    """Everything in one go without looking: eight numbers in one tensor on the device."""
    wide = torch.float32 if values.device.type == "mps" else torch.float64
    real = _as_real(values)
    if not real.is_floating_point():
        real = real.to(wide)
    finite = torch.isfinite(real)
    nan = torch.isnan(values)
    seen = torch.where(finite, real, 0)
    low = torch.where(finite, real, math.inf).amin()
    high = torch.where(finite, real, -math.inf).amax()
    infinite = ~finite & ~nan
    numbers = [
        nan.sum(dtype=wide),
        (infinite & (real > 0)).sum(dtype=wide),
        (infinite & (real < 0)).sum(dtype=wide),
        (real == 0).sum(dtype=wide),
        low.to(wide),
        high.to(wide),
        seen.sum(dtype=wide),
        torch.linalg.vector_norm(seen, dtype=wide),
    ]
    return torch.stack(numbers)


def _from_numbers(count: int, row: list[float]) -> Stats:
    nan, above, below, zeros = (int(number) for number in row[:4])
    low, high, total, norm = row[4:]
    finite = count - nan - above - below
    if finite <= 0:
        return Stats(numel=count, nan=nan, pos_inf=above, neg_inf=below, zeros=zeros)
    if zeros:  # those a sparse tensor does not hold were not among the values
        low, high = min(low, 0.0), max(high, 0.0)
    mean = total / finite
    std = math.sqrt(max(0.0, norm * norm / finite - mean * mean))
    return Stats(
        numel=count,
        nan=nan,
        pos_inf=above,
        neg_inf=below,
        zeros=zeros,
        min=low,
        max=high,
        mean=mean,
        std=std,
        norm=norm,
    )


def _with_zeros(stats: Stats, zeros: int) -> Stats:
    """The same tensor with the zeros it does not hold."""
    mean, norm = stats.mean or 0.0, stats.norm or 0.0
    row = [stats.nan, stats.pos_inf, stats.neg_inf, stats.zeros + zeros, stats.min or 0.0, stats.max or 0.0]
    held = stats.numel - stats.nan - stats.pos_inf - stats.neg_inf
    return _from_numbers(stats.numel + zeros, [*row, mean * held, norm])


class StatisticsObserver(Observer):
    """Fills `input_stats` and `output_stats`; each version of a tensor is measured once."""

    def __init__(self) -> None:
        self._known: dict[Ref, Stats | Pending | None] = {}
        self._wanted: list[tuple[OpDraft, str, list[Stats | Pending | None]]] = []
        self._fresh: dict[int, tuple[Any, int, Stats | Pending | None]] = {}
        """Gradients a node has just made, by address: the next node gets the very same tensor."""

    def before(self, call: OpCall) -> None:
        self._want(call.draft, "input_stats", call.draft.inputs, call.inputs)

    def after(self, call: OpCall) -> None:
        if call.draft.name.startswith(("empty", "new_empty")):
            return  # memory nobody has written to yet
        self._want(call.draft, "output_stats", call.draft.outputs, call.outputs)

    def _want(self, draft: OpDraft, field: str, refs: Sequence[Ref], tensors: Sequence[Any]) -> None:
        known = self._known
        found = []
        for ref, tensor in zip(refs, tensors, strict=False):
            if ref not in known:
                known[ref] = measure(tensor)
            found.append(known[ref])
        self._wanted.append((draft, field, found))

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        present = [gradient for gradient in gradients if gradient is not None]
        for ref, gradient in zip(draft.inputs, present, strict=False):
            fresh = self._fresh.pop(id(gradient), None)
            if fresh is not None and fresh[0]() is gradient and fresh[1] == gradient._version:
                self._known.setdefault(ref, fresh[2])
        self._want(draft, "input_stats", draft.inputs, present)

    def backward_after(self, draft: OpDraft, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        if draft.name == "AccumulateGrad":
            self._want(draft, "output_stats", draft.inputs, [g for g in gradients if g is not None])
            return
        found = []
        for gradient in produced:
            if gradient is not None:
                found.append(measure(gradient))
                self._fresh[id(gradient)] = (weakref.ref(gradient), gradient._version, found[-1])
        self._wanted.append((draft, "output_stats", found))

    def finish(self, drafts: Drafts) -> None:
        flat = [item for _, _, found in self._wanted for item in found]
        distinct = {id(item): item for item in flat}
        read = dict(zip(distinct, resolve(list(distinct.values())), strict=True))
        for draft, field, found in self._wanted:
            setattr(draft, field, [read[id(item)] for item in found])
        self._known.clear()
        self._fresh.clear()
        self._wanted.clear()
