"""Histograms, images and audio in summaries, in both generations of TensorBoard."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.eventfiles.tensors import Tensor
from stepscope.eventfiles.wire import FIXED32, FIXED64, LENGTH, VARINT, doubles, fields, put_double, put_packed, text_of

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Histogram:
    """Counts between edges; there is one edge more than counts."""

    edges: Floats
    counts: Floats
    low: float | None = None
    high: float | None = None
    total: float = 0.0
    mean: float | None = None
    std: float | None = None


@dataclass(frozen=True)
class Picture:
    data: bytes
    width: int
    height: int


@dataclass(frozen=True)
class Sound:
    data: bytes
    mime: str = ""
    rate: float = 0.0
    channels: int = 0
    frames: int = 0


def decode_histogram(data: bytes) -> Histogram:
    """A histogram of the first generation: upper limits and counts, with minimum, maximum and moments."""
    numbers = {1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0}
    parts: dict[int, list[Floats]] = {6: [], 7: []}
    for number, wire, value in fields(data):
        if isinstance(value, int):
            continue
        if number in numbers and wire == FIXED64:
            numbers[number] = struct.unpack("<d", value)[0]
        elif number in parts and wire in (LENGTH, FIXED64):
            parts[number].append(doubles(value))
    limits, counts = (np.concatenate(parts[number]) if parts[number] else np.empty(0) for number in (6, 7))
    return from_limits(limits, counts, *numbers.values())


@np.errstate(all="ignore")
def from_limits(
    limits: Floats, counts: Floats, low: float, high: float, total: float, summed: float, squares: float
) -> Histogram:
    """From upper limits and counts, as in TensorBoard's own histograms; empty bins at the ends are dropped."""
    if len(limits) != len(counts):
        raise BadData(f"a histogram of {len(counts)} counts and {len(limits)} limits; expected equally many")
    mean = std = None
    if total > 0 and np.isfinite([summed, squares]).all():
        mean = summed / total
        std = max(0.0, squares / total - mean * mean) ** 0.5
    filled = np.flatnonzero(counts > 0)
    if not len(filled):
        return Histogram(np.empty(0), np.empty(0), total=total)
    first, last = int(filled[0]), int(filled[-1])
    inner = limits[first:last]
    edges = np.concatenate(([low], inner, [high]))
    if not (np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
        before = limits[first - 1] if first else min(low, limits[first])
        edges = np.concatenate(([before], inner, [limits[last]]))
    return _tidy(edges, counts[first : last + 1], low, high, total, mean, std)


@np.errstate(all="ignore")
def from_buckets(tensor: Tensor) -> Histogram:
    """A histogram of the second generation: rows of left edge, right edge and count."""
    if tensor.ndim != 2 or tensor.shape[1] != 3 or tensor.dtype.kind not in "fiu":
        raise BadData(f"a histogram of shape {tensor.shape}; expected (buckets, 3)")
    rows = tensor.astype(np.float64)
    if not len(rows):
        return Histogram(np.empty(0), np.empty(0))
    counts = rows[:, 2]
    filled = np.flatnonzero(counts > 0)
    low, high = (float(rows[filled[0], 0]), float(rows[filled[-1], 1])) if len(filled) else (None, None)
    if len(filled) and (rows[:, 0] == rows[:, 1]).all():  # all values are the same
        counts, rows = counts[filled], rows[filled[:1]]
        counts = counts.sum(keepdims=True)
    edges = np.concatenate((rows[:, 0], rows[-1:, 1]))
    return _tidy(edges, counts, low, high, float(counts.sum()), None, None)


def _tidy(
    edges: Floats, counts: Floats, low: float | None, high: float | None, total: float, mean: float | None,
    std: float | None,
) -> Histogram:  # fmt: skip
    """With increasing edges: a single bin without a width is widened, others are merged into a neighbor."""
    if len(counts) == 1 and not edges[1] > edges[0]:
        half = max(abs(float(edges[0])) * 5e-4, 0.5 if not edges[0] else 1e-290)
        edges = np.array([edges[0] - half, edges[0] + half])
    wide = np.diff(edges) > 0
    if not wide.all() and wide.any():
        to = np.minimum(np.searchsorted(np.flatnonzero(wide), np.arange(len(counts))), int(wide.sum()) - 1)
        counts = np.bincount(to, weights=counts).astype(np.float64)
        edges = np.concatenate((edges[:-1][wide], edges[-1:]))
    if not (np.isfinite(edges).all() and (np.diff(edges) > 0).all() and np.isfinite(counts).all() and len(counts)):
        raise BadData("a histogram whose edges are not increasing")
    return Histogram(edges, counts, low, high, total, mean, std)


def histogram_record(histogram: Histogram) -> tuple[dict[str, Any], bytes]:
    """The meta and bytes of a Stepscope histogram; statistics derived from bins are marked as estimated."""
    meta: dict[str, Any] = {
        "bins": max(1, len(histogram.counts)), "min": _finite(histogram.low), "max": _finite(histogram.high),
        "mean": histogram.mean, "std": histogram.std, "total": histogram.total,
        "nan": 0, "pos_inf": 0, "neg_inf": 0,
    }  # fmt: skip
    edges, counts = histogram.edges, histogram.counts
    if not len(counts):
        edges, counts = np.array([0.0, 1.0]), np.zeros(1)
        meta |= {"min": None, "max": None}
    elif histogram.mean is None:
        with np.errstate(all="ignore"):
            middles, share = edges[:-1] / 2 + edges[1:] / 2, counts / max(float(counts.sum()), 1e-300)
            mean = float((middles * share).sum())
            spread = float((((middles - mean) ** 2) * share).sum() ** 0.5)
        meta |= {"mean": _finite(mean), "std": _finite(spread), "estimated": True}
    return meta, np.concatenate((edges, counts)).astype("<f8").tobytes()


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


@np.errstate(all="ignore")
def encode_histogram(histogram: Histogram) -> bytes:
    """The first generation's form, which every TensorBoard reads."""
    total = histogram.total or float(histogram.counts.sum())
    mean, std = histogram.mean or 0.0, histogram.std or 0.0
    low = float(histogram.edges[0]) if histogram.low is None else histogram.low
    high = float(histogram.edges[-1]) if histogram.high is None else histogram.high
    limits, counts = histogram.edges, np.concatenate(([0.0], histogram.counts))
    return b"".join(
        (
            put_double(1, low),
            put_double(2, high),
            put_double(3, total),
            put_double(4, mean * total),
            put_double(5, (std * std + mean * mean) * total),
            put_packed(6, limits, "<f8"),
            put_packed(7, counts, "<f8"),
        )
    )


def decode_image(data: bytes) -> Picture:
    size = {1: 0, 2: 0}
    content = b""
    for number, wire, value in fields(data):
        if number in size and wire == VARINT and isinstance(value, int):
            size[number] = value
        elif number == 4 and not isinstance(value, int):
            content = bytes(value)
    return Picture(content, width=size[2], height=size[1])


def decode_audio(data: bytes) -> Sound:
    rate, mime, content = 0.0, "", b""
    whole = {2: 0, 3: 0}
    for number, wire, value in fields(data):
        if isinstance(value, int):
            if number in whole:
                whole[number] = value
        elif number == 1 and wire == FIXED32:
            rate = struct.unpack("<f", value)[0]
        elif number == 4:
            content = bytes(value)
        elif number == 5:
            mime = text_of(value)
    return Sound(content, mime, rate, whole[2], whole[3])
