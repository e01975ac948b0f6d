"""What one part of the samples holds: type, shape, range, NaNs, size."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

_MOST_VALUES = 200


@dataclass
class Field:
    """One part of a sample or batch, over all that were looked at."""

    path: str
    type: str
    """Tensor, ndarray, Image, int, str ..."""
    dtype: str = ""
    device: str = ""
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    """Each that was seen, the most frequent first."""
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    std: float | None = None
    bad: int = 0
    """In how many values there is a NaN or an infinity."""
    whole: bool = False
    """All values are whole numbers."""
    bytes: int = 0
    """Of one, on average."""
    count: int = 0
    example: str = ""
    """Of words: the first."""
    values: dict[str, int] = field(default_factory=dict)
    """Of single whole numbers or words: how often each was seen."""

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def field_of(path: str, values: list[Any]) -> Field:
    """The facts of one part, from its values in several samples."""
    arrays = [as_array(value) for value in values]
    kinds = Counter(type(value).__name__ for value in values)
    one = Field(path, " or ".join(kinds), count=len(values))
    known = [array for array in arrays if array is not None]
    if known and len(known) == len(values):
        _describe(one, values, known)
    elif isinstance(values[0], str | bytes):
        one.example = str(values[0])[:40]
        one.bytes = round(sum(len(str(value)) for value in values) / len(values))
        one.values = _tally([str(value)[:40] for value in values])
    return one


def _describe(one: Field, values: list[Any], arrays: list[Any]) -> None:
    pairs = list(zip(values, arrays, strict=True))
    one.dtype = " or ".join(dict.fromkeys(_dtype(value, array) for value, array in pairs))
    one.device = " or ".join(dict.fromkeys(str(getattr(value, "device", "")) for value in values)).strip()
    one.shapes = [shape for shape, _ in Counter(tuple(array.shape) for array in arrays).most_common(8)]
    one.bytes = round(sum(array.size * _itemsize(value, array) for value, array in pairs) / len(values))
    numbers = [array.astype(np.float64).reshape(-1) for array in arrays if array.size and array.dtype.kind in "biuf"]
    if not numbers:
        return
    finite = [part[np.isfinite(part)] for part in numbers]
    one.bad = _shortened(finite, numbers)
    _describe_range(one, np.concatenate(finite))
    if one.whole and all(array.size == 1 for array in arrays):
        one.values = _tally([int(part[0]) for part in finite if part.size])


def _shortened(finite: list[Any], whole: list[Any]) -> int:
    """How many have values that are not finite."""
    return sum(len(good) < len(part) for good, part in zip(finite, whole, strict=True))


def _describe_range(one: Field, values: Any) -> None:
    if values.size:
        one.low, one.high = float(values.min()), float(values.max())
        one.mean, one.std = float(values.mean()), float(values.std())
        one.whole = bool((values == np.rint(values)).all())


def _tally(values: list[Any]) -> dict[str, int]:
    found = Counter(values)
    if len(found) > _MOST_VALUES:
        return {}
    ordered = sorted(found.items(), key=lambda pair: pair[0])
    return {str(value): number for value, number in ordered}


def as_array(value: Any) -> Any:
    """The numbers in a value as an array; None where there are none."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | int | float | np.generic):
        return np.asarray(value)
    if isinstance(value, list):
        return np.asarray(value) if value and all(isinstance(part, bool | int | float) for part in value) else None
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return _of_tensor(value)
    if hasattr(value, "getbands"):  # a PIL image
        from stepscope.track.media.pixels import from_pil

        return from_pil(value)
    return None


def _of_tensor(tensor: Any) -> Any:
    import torch

    if not isinstance(tensor, torch.Tensor) or tensor.is_complex() or tensor.is_quantized or tensor.is_meta:
        return None
    if tensor.layout is not torch.strided:
        return None
    local = tensor.detach().cpu()
    return (local.float() if local.dtype in (torch.bfloat16, torch.float16) else local).numpy()


def _dtype(value: Any, array: Any) -> str:
    return str(getattr(value, "dtype", "") or (array.dtype if not isinstance(value, bool | int | float) else "")
               ).removeprefix("torch.")  # fmt: skip


def _itemsize(value: Any, array: Any) -> int:
    size = getattr(value, "element_size", None)
    return int(size()) if callable(size) else int(array.dtype.itemsize)
