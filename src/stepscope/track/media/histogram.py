"""Histograms of tensors, arrays and lists, or precomputed ones. NaN and infinities are counted separately."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.track.media.arrays import Held, hold, is_tensor, numbers, to_float64
from stepscope.track.media.loggable import Encoded, harmless, one

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Floats = NDArray[np.float64]

MAX_BINS = 4096
_BLOCK = 1 << 15
"""Values counted at a time: a block of float64 and its bin numbers fit the processor's cache."""


@harmless
class Histogram:
    """The distribution of many values: `run.log({"weights": stepscope.Histogram(layer.weight)})`.

    `values` is a tensor, an array, numbers in a list, or a list of tensors (a model's gradients). Pass precomputed
    counts as `Histogram(counts=..., edges=...)` or as the pair that `numpy.histogram` returns. Integers with few
    distinct values get one bin each.
    """

    def __init__(self, values: Any = None, bins: int = 64, *, counts: Any = None, edges: Any = None) -> None:
        if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= MAX_BINS:
            raise UsageError(f"bins={bins!r} must be a whole number from 1 to {MAX_BINS}")
        self._bins = bins
        self._counted: tuple[Floats, Floats] | None = None
        self._held: list[Held] = []
        if counts is None and edges is None and _is_counted_pair(values):
            values, counts, edges = None, values[0], values[1]
        if (counts is None) != (edges is None) or (values is None) == (counts is None):
            raise UsageError("a histogram needs either values, or both counts= and edges=")
        if counts is not None:
            self._counted = _checked(counts, edges)
        else:
            self._held = [hold(part, "a histogram") for part in _parts(values)]

    def encode(self, key: str, step: int, time: float) -> Encoded:
        import numpy as np

        edges, counts, meta = self._count()
        meta["bins"] = len(counts)
        data = np.concatenate((edges, counts)).astype("<f8").tobytes()
        return one(key, step, time, kind="histogram", mime="application/octet-stream", data=data, meta=meta)

    def _count(self) -> tuple[Floats, Floats, dict[str, Any]]:
        import numpy as np

        if self._counted is not None:
            edges, counts = self._counted
            return edges, counts, _estimated(edges, counts)
        arrays = [held.numpy().reshape(-1) for held in self._held]
        values = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        finite, meta = _without_bad(values)
        if finite.size == 0:
            return np.array([0.0, 1.0]), np.zeros(1), meta
        low, high = meta["min"], meta["max"]
        whole = finite.dtype.kind in "biu" and high - low < self._bins and abs(low) < 2**52 > abs(high)
        edges = np.arange(low, high + 2, dtype=np.float64) - 0.5 if whole else _edges(low, high, self._bins)
        return edges, _counts(finite, edges), meta


def _without_bad(values: Array) -> tuple[Array, dict[str, Any]]:
    """The finite values, and statistics of all of them."""
    import numpy as np

    meta: dict[str, Any] = {"total": int(values.size), "nan": 0, "pos_inf": 0, "neg_inf": 0}
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if values.size:
        low, high = float(values.min()), float(values.max())
        if not (np.isfinite(low) and np.isfinite(high)):  # min and max propagate NaN
            meta["nan"] = int(np.isnan(values).sum())
            meta["pos_inf"] = int((values == np.inf).sum())
            meta["neg_inf"] = int((values == -np.inf).sum())
            values = values[np.isfinite(values)]
            if values.size:
                low, high = float(values.min()), float(values.max())
    if not values.size:
        return values, {**meta, "min": None, "max": None, "mean": None, "std": None}
    mean, std = _moments(values, low, high)
    return values, {**meta, "min": low, "max": high, "mean": mean, "std": std}


def _moments(values: Array, low: float, high: float) -> tuple[float, float]:
    """Mean and standard deviation in float64, block by block; scaled first if squares would overflow."""
    import numpy as np

    scale = max(abs(low), abs(high))
    factor = 1.0 if 1e-100 < scale < 1e100 else (1.0 / scale if scale >= 1e-300 else 1.0)
    middle = (low / 2 + high / 2) * factor
    first = second = 0.0
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK].astype(np.float64)
        if factor != 1.0:
            block *= factor
        block -= middle
        first += float(block.sum())
        second += float(block @ block)
    shift = first / values.size
    variance = max(0.0, second / values.size - shift * shift)
    return float((middle + shift) / factor), float(variance**0.5 / factor)


def _edges(low: float, high: float, bins: int) -> Floats:
    """Even edges; a range too narrow for float64 is widened until every bin has a width."""
    import numpy as np

    size = max(abs(low), abs(high))
    narrowest = max(math.ulp(size) * 4 * bins, 1e-290)
    if low == high:
        narrowest = max(narrowest, size * 1e-3 if size else 1.0)
    if high / 2 - low / 2 < narrowest / 2:
        middle = low / 2 + high / 2
        low, high = min(low, middle - narrowest), max(high, middle + narrowest)
    low, high = max(low, -sys.float_info.max), min(high, sys.float_info.max)
    share = np.linspace(0.0, 1.0, bins + 1)
    edges: Floats = low * (1 - share) + high * share
    edges[0], edges[-1] = low, high
    return edges


def _counts(values: Array, edges: Floats) -> Floats:
    """Number of values in each bin: [edge, next edge), the last one closed."""
    import numpy as np

    bins = len(edges) - 1
    low, high = float(edges[0]), float(edges[-1])
    per_half = bins / (high / 2 - low / 2)
    counts = np.zeros(bins, np.int64)
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK].astype(np.float64)
        place = block * 0.5  # in halves: high - low overflows for ranges as wide as float64 itself
        place -= low / 2
        place *= per_half
        place_in = place.astype(np.intp)
        np.clip(place_in, 0, bins - 1, out=place_in)
        # The arithmetic may round across an edge: compare with the edges themselves.
        place_in -= block < edges[place_in]
        place_in += (block >= edges[place_in + 1]) & (place_in != bins - 1)
        counts += np.bincount(place_in, minlength=bins)
    return counts.astype(np.float64)


def _parts(values: Any) -> list[Any]:
    """The tensors and arrays of a list of them; anything else is one part."""
    if isinstance(values, (list, tuple)) and any(is_tensor(one) or hasattr(one, "__array__") for one in values):
        return list(values)
    return [values]


def _is_counted_pair(values: Any) -> bool:
    """Whether it is what `numpy.histogram` returns: two flat arrays, the second one longer."""
    if not isinstance(values, tuple) or len(values) != 2:
        return False
    shapes = [getattr(part, "shape", None) for part in values]
    if any(shape is None or len(shape) != 1 for shape in shapes):
        return False
    return bool(shapes[1][0] == shapes[0][0] + 1)  # type: ignore[index]


def _checked(counts: Any, edges: Any) -> tuple[Floats, Floats]:
    import numpy as np

    ends = to_float64(numbers(edges, "edges of a histogram")).reshape(-1)
    heights = to_float64(numbers(counts, "counts of a histogram")).reshape(-1)
    if len(heights) < 1 or len(ends) != len(heights) + 1:
        raise UsageError(
            f"{len(heights)} counts need {len(heights) + 1} edges, but there are {len(ends)}; give "
            "one more edge than counts"
        )
    if len(heights) > MAX_BINS:
        raise UsageError(f"a histogram of {len(heights)} bins exceeds the maximum of {MAX_BINS}; merge bins")
    if not (np.isfinite(ends).all() and (np.diff(ends) > 0).all()):
        raise UsageError("edges of a histogram must be finite and increasing")
    if not (np.isfinite(heights).all() and (heights >= 0).all()):
        raise UsageError("counts of a histogram must be finite and non-negative")
    return ends, heights


def _estimated(edges: Floats, counts: Floats) -> dict[str, Any]:
    """Statistics estimated from bins: `estimated` marks them."""
    total = float(counts.sum())
    meta: dict[str, Any] = {"total": total, "nan": 0, "pos_inf": 0, "neg_inf": 0, "estimated": True}
    if total == 0:
        return {**meta, "min": None, "max": None, "mean": None, "std": None}
    filled = counts.nonzero()[0]
    middles = edges[:-1] / 2 + edges[1:] / 2
    share = counts / total
    mean = float((middles * share).sum())
    std = float((((middles - mean) ** 2) * share).sum() ** 0.5)
    return {**meta, "min": float(edges[filled[0]]), "max": float(edges[filled[-1] + 1]), "mean": mean, "std": std}
