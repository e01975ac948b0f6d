"""A quick look at a tensor's values: its range, what is not finite, how its columns differ, and marks of its rows.

Of large tensors a part; of those on a device a copy, while there is patience for it (see `fetch`). No numpy and no
random numbers of the script are used.
"""

from __future__ import annotations

import random
from types import TracebackType
from typing import Any

import torch

from stepscope.common import clocks
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.value_sample import TensorLook
from stepscope.record.observers.fetch import can_fetch, here, is_far, patience
from stepscope.record.observers.names import dtype_name
from stepscope.record.statistics import is_transformed

_ROWS, _COLUMNS = 1024, 64
_VALUES = 2**18
_WHOLE = 2**22
_COPIED = 2**20
"""A larger one on a device is not copied as a whole."""
_A_LOOK_S = 250e-6
_SECONDS_A_WINDOW = 0.004
_MARGIN = 4.0
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_draw = random.Random(20260101)
_WEIGHTS = raw.tensor([_draw.randrange(-(2**62), 2**62) | 1 for _ in range(_COLUMNS)], dtype=torch.int64)


_SERIES, _SHORTEST, _LONGEST = 128, 12, 128
_STRETCH = raw.tensor([_draw.randrange(-(2**62), 2**62) | 1 for _ in range(_LONGEST)], dtype=torch.int64)


class Allowance:
    """How often an observer may look at values: `with allowance: ...` while `allowance.left()`.

    Counted in looks, so that a busy machine looks as often as a quiet one; their CPU time is the second bound, four
    times as wide. Each window of close looking brings a few more.
    """

    def __init__(self, seconds: float = 0.3) -> None:
        self.looks = 0
        self._cpu_s = 0.0
        self._seconds = seconds
        self._clock = 0.0

    def left(self) -> bool:
        seconds = self._seconds + _SECONDS_A_WINDOW * patience.windows
        return self.looks * _A_LOOK_S < seconds and self._cpu_s < _MARGIN * seconds

    def __enter__(self) -> None:
        self._clock = clocks.thread_time()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.looks += 1
        self._cpu_s += clocks.thread_time() - self._clock


def can_look(tensor: Any) -> bool:
    """Whether its values can be read here and now: plain, dense, on the CPU or on a device that may be asked."""
    return is_plain(tensor) and can_fetch(tensor)


def is_plain(tensor: Any) -> bool:
    """Whether it is an ordinary tensor of numbers, wherever it lies."""
    return (
        type(tensor) in _PLAIN
        and (tensor.device.type == "cpu" or is_far(tensor))
        and tensor.layout is torch.strided
        and tensor.numel() > 0
        and not tensor.is_complex()
        and not tensor.is_quantized
        and not is_transformed(tensor)
    )


def look_at(tensor: Any) -> TensorLook:
    """Its numbers. NaN is looked for in all of it unless it is huge.

    >>> seen = look_at(torch.tensor([[1.0, 200.0], [3.0, float("nan")]]))
    >>> (seen.low, seen.high, seen.nan)
    (1.0, 200.0, 1)
    """
    look = TensorLook(tuple(tensor.shape), dtype_name(tensor.dtype))
    look.whole = not tensor.is_floating_point()
    tensor = raw.detach(tensor) if is_far(tensor) and tensor.numel() > _COPIED else here(tensor)
    values = here(_part(tensor))
    if tensor.is_floating_point():
        whole = tensor if tensor.numel() <= _WHOLE and not is_far(tensor) else values
        finite = raw.isfinite(whole)
        if not bool(raw.item(finite.all())):
            look.nan = int(raw.item((~finite).sum()))
            values = values[raw.isfinite(values)]
    values = raw.to(values.reshape(-1), torch.float64)
    if values.numel():
        low, high = raw.aminmax(values)
        look.low, look.high = float(raw.item(low)), float(raw.item(high))
        look.rms = float(raw.item(values.square().mean().sqrt()))
        look.constant = look.low == look.high
        look.whole = look.whole or bool(raw.item((values == values.round()).all()))
    look.bits = _bits(tensor)
    if tensor.ndim == 2 and tensor.is_floating_point() and tensor.shape[0] >= 8 and tensor.shape[1] <= 512:
        table = raw.to(here(tensor[:_ROWS]), torch.float64)
        if not look.nan:
            look.columns = raw.tolist(table.std(0))
    return look


def _bits(tensor: Any) -> float:
    """The sum over columns of the logarithm of how many different values there are (of some rows and columns)."""
    if tensor.ndim < 2 or tensor.shape[0] < 4:
        return 0.0
    table = _table(tensor[:256], cut=is_far(tensor))
    if table.shape[0] < 4:
        return 0.0
    ordered = table.sort(0).values
    distinct = (ordered[1:] != ordered[:-1]).sum(0) + 1
    measured = distinct >= 0.9 * table.shape[0]  # all different: numbers with many digits
    return float(raw.item(raw.where(measured, 24.0, raw.double(distinct).log2()).sum()))


def _part(tensor: Any) -> Any:
    """All of a small tensor, rows from all over a large one."""
    if tensor.numel() <= _VALUES or tensor.ndim == 0:
        return tensor
    width = tensor.numel() // tensor.shape[0]
    rows = max(1, min(tensor.shape[0], _VALUES // max(1, width)))
    part = tensor[:: max(1, tensor.shape[0] // rows)][:rows]
    return part if part.numel() <= 4 * _VALUES else part.reshape(-1)[:_VALUES]


def _table(rows: Any, *, cut: bool) -> Any:
    """Some values of each row; with `cut` of fewer rows where reading them means copying all."""
    if cut and not rows.is_contiguous() and rows.numel() > _VALUES:
        rows = rows[: max(1, _VALUES * rows.shape[0] // rows.numel())]
    flat = rows.reshape(rows.shape[0], -1)
    return here(flat[:, :: max(1, flat.shape[1] // _COLUMNS)][:, :_COLUMNS])


def row_marks(tensor: Any) -> list[int]:
    """One number for each row (at most 1024): equal rows have equal numbers, others almost surely not.

    >>> a, b, c = row_marks(torch.tensor([[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]]))
    >>> a == c, a == b
    (True, False)
    """
    if tensor.ndim == 0:
        return []
    flat = _table(raw.detach(tensor)[:_ROWS], cut=True).contiguous()
    bits = raw.to(flat, torch.uint8) if flat.dtype is torch.bool else flat.view(_BITS[flat.element_size()])
    whole = raw.to(bits, torch.int64)
    whole = (whole ^ (whole >> 13)) + 0x9E3779B9
    marks: list[int] = raw.tolist((whole * _WEIGHTS[: whole.shape[1]]).sum(1))
    return marks


def stretch_marks(tensor: Any) -> Any:
    """Of rows that are series of measured numbers: one number for each stretch of half their length, by where it
    begins. None for rows of another kind.

    >>> series = torch.arange(40.0).sqrt()
    >>> early, late = stretch_marks(torch.stack([series[:24], series[6:30]])).tolist()
    >>> early[6] == late[0]
    True
    """
    if tensor.ndim not in (2, 3) or not tensor.is_floating_point() or is_far(tensor):
        return None
    rows = raw.detach(tensor)[:_SERIES]
    if rows.ndim == 3 and rows.shape[1] == 1:
        rows = rows.reshape(rows.shape[0], -1, 1)
    rows = rows.reshape(rows.shape[0], rows.shape[1], -1)[:, :_LONGEST, :_COLUMNS].contiguous()
    length = rows.shape[1]
    if length < _SHORTEST:
        return None
    bits = raw.to(rows.view(_BITS[rows.element_size()]), torch.int64)
    bits = (bits ^ (bits >> 13)) + 0x9E3779B9
    each = (bits * _WEIGHTS[: bits.shape[2]]).sum(2)
    same = (each[:, 1:] == each[:, :-1]).sum(1)
    if bool(raw.item((same * 10 > length).any())):
        return None  # padded, or of few values
    return (each.unfold(1, length // 2, 1) * _STRETCH[: length // 2]).sum(2)


def labels_in(tensor: Any) -> list[int] | None:
    """Class labels, one a row: whole numbers, or zeros and ones; None for anything else.

    >>> labels_in(torch.tensor([[1.0], [0.0]]))
    [1, 0]
    >>> labels_in(torch.tensor([0.5, 1.0]))
    """
    if not can_look(tensor) or tensor.ndim == 0 or tensor.numel() != tensor.shape[0]:
        return None
    flat = here(raw.detach(tensor).reshape(-1)[:_ROWS])
    if flat.is_floating_point() and not bool(raw.item(((flat == 0) | (flat == 1)).all())):
        return None
    values: list[int] = raw.tolist(raw.to(flat, torch.int64))
    return values
