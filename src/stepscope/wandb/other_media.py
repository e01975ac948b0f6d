"""Histograms, sound, video, pages, figures, 3-D objects: W&B's arguments, Stepscope's media."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from stepscope.track import media
from stepscope.track.config import plain
from stepscope.wandb.errors import UsageError
from stepscope.wandb.failed_media import made


class _Wrapped:
    """Stepscope media created at once from data the caller may change later; never raises for its data."""

    _made: Any = None

    def _make(self, make: Any, *args: Any, **kwargs: Any) -> None:
        self._made = made(type(self).__name__, lambda: make(*args, **kwargs))

    def _stepscope_media_(self) -> Any:
        return self._made


class Histogram(_Wrapped):
    """A distribution: of a sequence, or precomputed as `np_histogram=numpy.histogram(values)`."""

    MAX_LENGTH = 512

    def __init__(self, sequence: Any = None, np_histogram: Any = None, num_bins: int = 64) -> None:
        if (sequence is None) == (np_histogram is None):
            raise ValueError("a wandb.Histogram is made of a sequence, or of np_histogram=(counts, bin edges)")
        if num_bins > self.MAX_LENGTH:
            raise ValueError(f"a wandb.Histogram has at most {self.MAX_LENGTH} bins, not {num_bins}")
        if np_histogram is not None:
            if len(np_histogram) != 2 or len(np_histogram[0]) + 1 != len(np_histogram[1]):
                raise ValueError("np_histogram is a pair: the counts, and one more bin edge than there are counts")
            self._make(media.Histogram, counts=np_histogram[0], edges=np_histogram[1])
        else:
            self._make(media.Histogram, sequence, num_bins)

    @property
    def histogram(self) -> list[float]:
        return self._edges_and_counts()[1]

    @property
    def bins(self) -> list[float]:
        return self._edges_and_counts()[0]

    def _edges_and_counts(self) -> tuple[list[float], list[float]]:
        import numpy as np

        [(record, data)] = self._made.encode("histogram", 0, 0.0)
        numbers = np.frombuffer(data or b"", "<f8")
        bins = int(record.meta["bins"])
        return numbers[: bins + 1].tolist(), numbers[bins + 1 :].tolist()


class Audio(_Wrapped):
    """A sound: samples with `sample_rate`, or the path of a file."""

    def __init__(self, data_or_path: Any, sample_rate: int | None = None, caption: str | None = None) -> None:
        self.caption = caption
        if not isinstance(data_or_path, str | os.PathLike) and sample_rate is None:
            raise ValueError("wandb.Audio of samples needs sample_rate=, for example 16000")
        self._make(media.Audio, data_or_path, sample_rate, caption)


class Video(_Wrapped):
    """A clip: frames (time, channels, height, width), a batch of such, or a file's path or bytes."""

    def __init__(
        self, data_or_path: Any, caption: str | None = None, fps: int | None = None, format: str | None = None
    ) -> None:
        self.caption = caption
        if isinstance(data_or_path, str | os.PathLike):
            self._make(media.Video, data_or_path, caption=caption)
        elif hasattr(data_or_path, "read"):
            self._make(_from_stream, data_or_path, f".{format or 'gif'}", media.Video, caption)
        else:
            self._make(_frames, data_or_path, fps or 4, caption)


def _frames(data: Any, fps: int, caption: str | None) -> Any:
    from stepscope.track.media.arrays import numbers

    frames = numbers(data, "a video")
    if frames.ndim == 5:  # a batch: side by side, as W&B shows it
        count, time, channels, height, width = frames.shape
        frames = frames.transpose(1, 2, 3, 0, 4).reshape(time, channels, height, count * width)
    layout = {3: "THW", 4: "TCHW"}.get(frames.ndim)
    high = float(frames.max()) if frames.size and frames.dtype.kind == "f" else 1.0
    span = (0.0, 255.0) if high > 1 else None
    return media.Video(frames, fps=fps, caption=caption, layout=layout, value_range=span)


def _from_stream(stream: Any, suffix: str, make: Any, caption: str | None) -> Any:
    """Stepscope's media read files at once, so the temporary one is deleted before this returns."""
    with tempfile.TemporaryDirectory(prefix="stepscope-") as folder:
        return make(_written(Path(folder) / f"data{suffix}", stream), caption=caption)


def _written(path: Path, source: Any) -> Path:
    content = source.read() if hasattr(source, "read") else source
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


class Html(_Wrapped):
    """A page: text, an open file, or the path of one."""

    def __init__(self, data: Any, inject: bool = True, data_is_not_path: bool = False) -> None:
        if hasattr(data, "read"):
            data = data.read()
        if not data_is_not_path and isinstance(data, str | os.PathLike) and _is_file(data):
            data = Path(data)
        self.html = data
        self._make(media.Html, data)


def _is_file(text: str | os.PathLike[str]) -> bool:
    try:
        return len(os.fspath(text)) < 4096 and os.path.isfile(text)
    except (OSError, ValueError):
        return False


class Plotly(_Wrapped):
    """A plotly or matplotlib figure."""

    def __init__(self, val: Any) -> None:
        self._make(media.Figure, val)


class Object3D(_Wrapped):
    """A 3-D object, stored as a file: points as an array, a scene as a dict, or a model file."""

    SUPPORTED_TYPES = frozenset({"obj", "gltf", "glb", "babylon", "stl", "pts.json"})

    def __init__(self, data_or_path: Any, caption: str | None = None, **kwargs: Any) -> None:
        self.caption = caption
        if isinstance(data_or_path, str | os.PathLike):
            if not os.fspath(data_or_path).endswith(tuple(self.SUPPORTED_TYPES)):
                raise ValueError(
                    f"'{data_or_path}' is not a 3-D file; expected {', '.join(sorted(self.SUPPORTED_TYPES))}"
                )
            self._make(media.File, data_or_path, caption=caption)
        elif hasattr(data_or_path, "read"):
            kind = kwargs.get("file_type") or "obj"
            self._make(_from_stream, data_or_path, f".{kind}", media.File, caption)
        else:
            self._make(_points, data_or_path, caption)

    @classmethod
    def from_numpy(cls, data: Any) -> Object3D:
        return cls(data)

    @classmethod
    def from_point_cloud(cls, points: Any, boxes: Any = (), vectors: Any = None, **kwargs: Any) -> Object3D:
        return cls({"type": "lidar/beta", "points": points, "boxes": boxes, "vectors": vectors or []})

    @classmethod
    def from_file(cls, data_or_path: Any, file_type: str | None = None) -> Object3D:
        return cls(data_or_path, file_type=file_type)


def _points(data: Any, caption: str | None) -> Any:
    if isinstance(data, dict):
        content = {name: _listed(value) for name, value in data.items()}
    else:
        rows = _listed(data)
        if not rows or len(rows[0]) not in (3, 4, 6):
            raise UsageError("points of a wandb.Object3D have 3, 4 or 6 numbers each: x, y, z, and a class or a color")
        content = {"type": "lidar/beta", "points": rows}
    with tempfile.TemporaryDirectory(prefix="stepscope-") as folder:
        return media.File(_written(Path(folder) / "points.pts.json", msgspec.json.encode(content)), caption=caption)


def _listed(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else plain(value)


class Molecule(_Wrapped):
    """A molecule, stored as a file."""

    def __init__(self, data_or_path: Any, caption: str | None = None, **kwargs: Any) -> None:
        self.caption = caption
        if hasattr(data_or_path, "read"):
            self._make(_from_stream, data_or_path, f".{kwargs.get('file_type') or 'pdb'}", media.File, caption)
        else:
            self._make(media.File, data_or_path, caption=caption)


class Graph:
    """A model's graph. Stepscope records the real one: `stepscope run`, or `stepscope.record(model)`."""

    def __init__(self, format: str = "keras") -> None:
        self.format = format


def box3d(*, center: Any, size: Any, orientation: Any, color: Any, label: str | None = None, score: Any = None) -> Any:
    """A box for `Object3D.from_point_cloud`."""
    box = {"center": center, "size": size, "orientation": orientation, "color": color, "label": label, "score": score}
    return {name: _listed(value) for name, value in box.items() if value is not None}
