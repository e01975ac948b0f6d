"""Videos: frames as an animated PNG (lossless, no codec needed), video files unchanged."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import MissingExtra, UsageError
from stepscope.track.media import pixels
from stepscope.track.media.arrays import Held, hold, is_tensor, shaped
from stepscope.track.media.loggable import Encoded, harmless, one
from stepscope.track.media.png import apng
from stepscope.track.media.sniff import image_size, mime_of, read_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

MAX_FILE_BYTES = 256 << 20
_LAYOUTS = ("THW", "TCHW", "THWC")
_FILES = ("video/mp4", "video/webm", "image/gif", "image/apng", "image/webp")


@harmless
class Video:
    """A clip to log: `run.log({"rollout": stepscope.Video(frames, fps=30)})`.

    `data` is a tensor or array THW, TCHW or THWC, a list of frames, or the path of an MP4, WebM, GIF, animated PNG or
    WebP file, which is stored unchanged. Values follow the rules of `Image`, with one range for all frames. Frames
    are written as animated PNG, which is lossless and which every browser plays; `format="gif"` is smaller for long
    clips and needs Pillow.
    """

    def __init__(
        self,
        data: Any,
        fps: float = 10,
        caption: str | None = None,
        *,
        layout: str | None = None,
        value_range: tuple[float, float] | None = None,
        format: str = "apng",
    ) -> None:
        if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= 240:
            raise UsageError(f"fps={fps!r} must be the frames per second, above 0 and at most 240")
        if format not in ("apng", "gif"):
            raise UsageError(f"video format {format!r} is not known; expected 'apng' or 'gif'")
        self.caption = caption
        self._fps = fps
        self._range = pixels.checked_range(value_range)
        self._format = format
        self._file: tuple[bytes, str, dict[str, Any]] | None = None
        self._held: list[Held] = []
        if isinstance(data, (str, os.PathLike)):
            self._file = _video_file(data)
            return
        self._listed = isinstance(data, (list, tuple))
        data, shape, torch_order = _frames(data) if self._listed else (*shaped(data, "a video"), is_tensor(data))
        self._layout = layout or _layout(shape, torch_order)
        _check(shape, self._layout)
        self._held = [hold(part, "a video") for part in (data if self._listed else [data])]

    def encode(self, key: str, step: int, time: float) -> Encoded:
        if self._file is not None:
            data, mime, meta = self._file
            return one(key, step, time, kind="video", mime=mime, data=data, meta=meta, caption=self.caption)
        array = pixels.channels_last(self._array(), self._layout.replace("T", "N"), "a video")
        frames, notes = pixels.to_uint8(array, self._range)
        count, height, width, _ = frames.shape
        meta = {"frames": count, "fps": self._fps, "width": width, "height": height, **notes}
        if self._format == "gif":
            data, mime = _gif(list(frames), self._fps), "image/gif"
        else:
            data, mime = apng(list(frames), self._fps), "image/apng"
        return one(key, step, time, kind="video", mime=mime, data=data, meta=meta, caption=self.caption)

    def _array(self) -> NDArray[Any]:
        import numpy as np

        arrays = [held.numpy() for held in self._held]
        return np.stack(arrays) if self._listed else arrays[0]


def _frames(data: Sequence[Any]) -> tuple[list[Any], tuple[int, ...], bool]:
    """Frames given one by one, as arrays, tensors or PIL images, must have the same shape."""
    frames = [shaped(pixels.from_pil(frame), "a frame of a video") for frame in data]
    shapes = {shape for _, shape in frames}
    if len(shapes) != 1:
        raise UsageError(
            f"the frames of a video must have one shape, but there are {sorted(shapes) if shapes else 'no frames'}; "
            "resize or pad them first"
        )
    return [frame for frame, _ in frames], (len(frames), *shapes.pop()), is_tensor(frames[0][0])


def _layout(shape: tuple[int, ...], torch_order: bool) -> str:
    if len(shape) not in (3, 4):
        raise UsageError(
            f"a video of shape {shape} has {len(shape)} axes; expected 3 (THW) or 4 (TCHW or THWC); "
            "log the clips of a batch one by one, as a list"
        )
    return "T" + pixels.single_layout(shape[1:], torch_order)


def _check(shape: tuple[int, ...], layout: str) -> None:
    if layout not in _LAYOUTS:
        raise UsageError(f"video layout {layout!r} is not known; expected one of {', '.join(_LAYOUTS)}")
    if len(shape) != len(layout):
        raise UsageError(
            f"a video of shape {shape} has {len(shape)} axes, but layout='{layout}' names "
            f"{len(layout)}; give one letter per axis"
        )
    size = dict(zip(layout, shape, strict=True))
    if size["T"] < 1:
        raise UsageError(f"a video of shape {shape} has no frames; log it only when there is something to see")
    if size.get("C", 1) not in pixels.CHANNELS:
        raise UsageError(
            f"a video of shape {shape} ({layout}) has {size['C']} channels; expected 1 (gray), 3 (RGB) or 4 (RGBA)"
        )
    pixels.check_pixels(size["W"], size["H"], "a frame of a video")
    pixels.check_pixels(size["W"] * size["T"], size["H"], f"a video of {size['T']} frames, in all")


def _video_file(path: str | os.PathLike[str]) -> tuple[bytes, str, dict[str, Any]]:
    data = read_file(path, "video file", MAX_FILE_BYTES)
    mime = mime_of(data[:4096])
    if mime not in _FILES:
        raise UsageError(
            f"video file '{os.fspath(path)}' is {mime or 'of an unknown type'}; expected MP4, WebM, GIF, animated PNG "
            "or WebP (recognized by its first bytes)"
        )
    size = image_size(data, mime)
    return data, mime, {} if size is None else {"width": size[0], "height": size[1]}


def _gif(frames: Sequence[Pixels], fps: float) -> bytes:
    try:
        from PIL import Image as pillow
    except ImportError:
        raise MissingExtra("writing a GIF", "pillow") from None
    images = [pillow.fromarray(frame[..., 0] if frame.shape[2] == 1 else frame) for frame in frames]
    buffer = io.BytesIO()
    # A GIF has a resolution of 10 ms, and browsers slow down frames shorter than 20 ms.
    delay_ms = max(20, round(1000 / fps))
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=delay_ms, loop=0)
    return buffer.getvalue()
