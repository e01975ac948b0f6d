"""Images, sounds, histograms and curves of TensorBoard's writer, as Stepscope media.

Each copies its data when created and does the work in `encode`, on another thread. The conventions are TensorBoard's:
its bins, its clipping of images and sounds, its even thresholds.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import UsageError
from stepscope.eventfiles.curves import pr_record
from stepscope.eventfiles.ply import ply
from stepscope.eventfiles.summaries import from_limits, histogram_record
from stepscope.records import Media
from stepscope.track.media.arrays import hold
from stepscope.track.media.audio import Audio
from stepscope.track.media.histogram import _without_bad
from stepscope.track.media.image import Image
from stepscope.track.media.loggable import Encoded, harmless, one
from stepscope.track.media.video import Video

__all__ = ["Array", "Bins", "Clip", "CountedBins", "Curve", "Mesh", "Picture", "RawFile", "Sound", "default_bins"]

Array = npt.NDArray[Any]
_BINARY = "application/octet-stream"


def default_bins() -> list[float]:
    """TensorBoard's bins: from 1e-12 up, each ten percent wider than the previous one, and mirrored below 0."""
    ends, end = [], 1e-12
    while end < 1e20:
        ends.append(end)
        end *= 1.1
    return [*(-end for end in reversed(ends)), 0.0, *ends]


_DEFAULT = np.array(default_bins())


@harmless
class Bins:
    """Values counted in TensorBoard's bins or in those of a numpy rule."""

    def __init__(self, values: Any, bins: Any = "tensorflow", max_bins: int | None = None) -> None:
        self._held = hold(values, "a histogram")
        self._bins = bins
        self._max_bins = max_bins

    def encode(self, key: str, step: int, time: float) -> Encoded:
        finite, told = _without_bad(self._held.numpy().reshape(-1))
        values = finite.astype(np.float64)
        if not len(values):
            meta, data = histogram_record(from_limits(np.empty(0), np.empty(0), 0.0, 0.0, 0.0, 0.0, 0.0))
        else:
            bins = _DEFAULT if isinstance(self._bins, str) and self._bins == "tensorflow" else self._bins
            counts, limits = np.histogram(values, bins=bins)
            counts, limits = _merged(counts.astype(np.float64), limits.astype(np.float64), self._max_bins)
            with np.errstate(all="ignore"):
                total, squares = float(values.sum()), float(values.dot(values))
            low, high = float(values.min()), float(values.max())
            made = from_limits(limits[1:], counts, low, high, float(len(values)), total, squares)
            meta, data = histogram_record(made)
        return one(key, step, time, kind="histogram", mime=_BINARY, data=data, meta={**meta, **told})


def _merged(counts: Array, limits: Array, most: int | None) -> tuple[Array, Array]:
    """At most this many bins: neighbors are merged, as in TensorBoard."""
    if most is None or len(counts) <= most or most < 1:
        return counts, limits
    width = len(counts) // most
    if len(counts) % width:
        counts = np.pad(counts, (0, width - len(counts) % width))
    return counts.reshape(-1, width).sum(axis=1), np.concatenate((limits[:-1:width], limits[-1:]))


@harmless
class CountedBins:
    """A precomputed histogram."""

    def __init__(self, limits: Any, counts: Any, moments: Sequence[float]) -> None:
        ends, heights = (np.asarray(part, dtype=np.float64).reshape(-1) for part in (limits, counts))
        if len(ends) != len(heights):
            raise UsageError(f"{len(ends)} bucket_limits for {len(heights)} bucket_counts; give one each")
        low, high, total, summed, squares = (float(part) for part in moments)
        self._counted = from_limits(ends.copy(), heights.copy(), low, high, total, summed, squares)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        meta, data = histogram_record(self._counted)
        return one(key, step, time, kind="histogram", mime=_BINARY, data=data, meta=meta)


@harmless
class Picture:
    """An image or, for four axes, a sheet of eight columns. Out-of-range values are clipped."""

    def __init__(
        self, values: Any, axes: str, boxes: Any = None, labels: Sequence[str] | None = None, rescale: float = 1.0
    ) -> None:
        self._held = hold(values, "an image")
        self._axes = axes.upper()
        if len(set(self._axes)) != len(axes) or len(self._held.shape) != len(axes) or len(axes) not in (2, 3, 4):
            raise UsageError(f"an image of shape {self._held.shape} cannot have the axes '{axes}'; see dataformats=")
        if set(self._axes) not in (set("HW"), set("CHW"), set("NCHW")):
            raise UsageError(f"dataformats='{axes}' is unknown; it is made of N, C, H and W")
        self._boxes = None if boxes is None else hold(boxes, "boxes").numpy().astype(float).reshape(-1, 4).tolist()
        self._labels = list(labels) if labels is not None else None
        self._rescale = rescale

    def encode(self, key: str, step: int, time: float) -> Encoded:
        pixels = clipped(channels_last(self._held.numpy(), self._axes))
        boxes = self._boxes
        if self._rescale != 1:
            pixels, boxes = _resized(pixels, boxes, self._rescale)
        marks: list[Any] | None = boxes
        if boxes is not None and self._labels is not None:
            marks = [{"box": box, "label": label} for box, label in zip(boxes, self._labels, strict=False)]
        return Image(pixels, layout="HWC", boxes=marks).encode(key, step, time)


def channels_last(values: Array, axes: str) -> Array:
    """Height, width, channels; a batch becomes a sheet."""
    if axes in ("HW", "WH"):
        return np.transpose(values, [axes.index(axis) for axis in "HW"])[:, :, None]
    if len(axes) == 3:
        return np.transpose(values, [axes.index(axis) for axis in "HWC"])
    batch = values.transpose([axes.index(axis) for axis in "NHWC"])
    count, height, width, channels = batch.shape
    columns = min(count, 8)
    rows = -(-count // columns)
    sheet = np.zeros((rows * height, columns * width, channels), dtype=batch.dtype)
    for number, image in enumerate(batch):
        top, left = number // columns * height, number % columns * width
        sheet[top : top + height, left : left + width] = image
    return sheet


def clipped(values: Array) -> Array:
    """Bytes unchanged; everything else is assumed to range from 0 to 1."""
    if values.dtype == np.uint8:
        return values
    with np.errstate(all="ignore"):
        scaled: Array = np.nan_to_num(values.astype(np.float32) * 255, nan=0.0).clip(0, 255)
    return scaled.astype(np.uint8)


def _resized(pixels: Array, boxes: list[list[float]] | None, by: float) -> tuple[Array, list[list[float]] | None]:
    rows, columns = (max(1, int(size * by)) for size in pixels.shape[:2])
    down = (np.arange(rows) * pixels.shape[0] // rows).astype(int)
    across = (np.arange(columns) * pixels.shape[1] // columns).astype(int)
    return pixels[down][:, across], None if boxes is None else [[place * by for place in box] for box in boxes]


@harmless
class Clip:
    """A batch of clips (batch, time, channels, height, width), side by side."""

    def __init__(self, values: Any, fps: float) -> None:
        self._held = hold(values, "a video")
        if len(self._held.shape) != 5:
            raise UsageError(f"a video of shape {self._held.shape}; expected (batch, time, channels, height, width)")
        self._fps = fps

    def encode(self, key: str, step: int, time: float) -> Encoded:
        batch = self._held.numpy()
        count = 1 << max(0, (len(batch) - 1)).bit_length()
        if count > len(batch):
            batch = np.concatenate((batch, np.zeros((count - len(batch), *batch.shape[1:]), dtype=batch.dtype)))
        rows = 1 << ((len(self._held.numpy()).bit_length() - 1) // 2)
        columns = count // rows
        _, length, channels, height, width = batch.shape
        frames = batch.reshape(rows, columns, length, channels, height, width).transpose(2, 0, 4, 1, 5, 3)
        frames = frames.reshape(length, rows * height, columns * width, channels)
        return Video(clipped(frames), fps=self._fps, layout="THWC").encode(key, step, time)


@harmless
class Sound:
    """One channel; amplitudes above 1 are clipped."""

    def __init__(self, values: Any, rate: Any) -> None:
        self._held = hold(values, "audio")
        self._rate = int(rate)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        samples = np.nan_to_num(self._held.numpy().squeeze().astype(np.float64)).clip(-1, 1)
        if samples.ndim != 1:
            raise UsageError(f"audio of shape {samples.shape}; expected one axis, its samples")
        return Audio((samples * 32767).astype("<i2"), rate=self._rate).encode(key, step, time)


@harmless
class Curve:
    """A precision-recall curve at even thresholds, computed here or given."""

    def __init__(
        self, rows: Any = None, *, labels: Any = None, scores: Any = None, count: int = 127, weights: Any = None
    ):
        if rows is not None:
            self._rows = np.stack([np.array(hold(row, "a curve").numpy(), dtype=np.float64) for row in rows])
            return
        truth = hold(labels, "labels").numpy().reshape(-1).astype(np.float64)
        given = hold(scores, "predictions").numpy().reshape(-1).astype(np.float64)
        if len(truth) != len(given):
            raise UsageError(f"{len(truth)} labels for {len(given)} predictions; give one each")
        each = 1.0 if weights is None else hold(weights, "weights").numpy().reshape(-1).astype(np.float64)
        self._rows = _counted(truth, given, min(int(count), 127), each)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        return [pr_record(self._rows, key, step, time)]


def _counted(truth: Array, scores: Array, count: int, weights: Any) -> Array:
    buckets = np.int32(np.floor(scores * (count - 1)))
    span = (0, count - 1)
    hits, _ = np.histogram(buckets, bins=count, range=span, weights=truth * weights)
    alarms, _ = np.histogram(buckets, bins=count, range=span, weights=(1.0 - truth) * weights)
    hits, alarms = np.cumsum(hits[::-1])[::-1], np.cumsum(alarms[::-1])[::-1]
    quiet, misses = alarms[0] - alarms, hits[0] - hits
    precision = hits / np.maximum(1e-7, hits + alarms)
    recall = hits / np.maximum(1e-7, hits + misses)
    return np.stack((hits, alarms, quiet, misses, precision, recall))


@harmless
class Mesh:
    """Meshes or point clouds, each stored as a PLY file."""

    def __init__(self, vertices: Any, colors: Any = None, faces: Any = None) -> None:
        parts = {"vertices": vertices, "colors": colors, "faces": faces}
        self._parts = {name: hold(part, name).numpy() for name, part in parts.items() if part is not None}
        for name, part in self._parts.items():
            if part.ndim != 3 or part.shape[2] != 3:
                raise UsageError(f"{name} of a mesh have shape {part.shape}; expected (batch, rows, 3)")

    def encode(self, key: str, step: int, time: float) -> Encoded:
        batch = len(self._parts["vertices"])
        made: Encoded = []
        for index in range(batch):
            data = ply(**{name: part[index] for name, part in self._parts.items() if index < len(part)})
            meta = {"name": "mesh.ply", "plugin": "mesh"}
            record = Media(
                key=key, step=step, time=time, kind="file", mime=_BINARY, index=index, count=batch, meta=meta
            )
            made.append((record, data))
        return made


class RawFile:
    """Bytes stored as a file."""

    def __init__(self, name: str, data: bytes, mime: str = _BINARY) -> None:
        self._name, self._data, self._mime = name, data, mime

    @classmethod
    def of_array(cls, values: Any) -> RawFile:
        out = io.BytesIO()
        np.save(out, hold(values, "a tensor").numpy(), allow_pickle=False)
        return cls("tensor.npy", out.getvalue())

    @classmethod
    def of_json(cls, name: str, value: Any) -> RawFile:
        return cls(name, msgspec.json.encode(value, enc_hook=str), "application/json")

    def encode(self, key: str, step: int, time: float) -> Encoded:
        return one(key, step, time, kind="file", mime=self._mime, data=self._data, meta={"name": self._name})
