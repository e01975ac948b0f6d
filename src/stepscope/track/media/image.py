"""Images: tensors, arrays, PIL images, matplotlib figures and image files, single, in grids or as several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.records import Media
from stepscope.track.media import pixels
from stepscope.track.media.arrays import Held, hold, is_tensor, shaped
from stepscope.track.media.boxes import checked_boxes
from stepscope.track.media.loggable import Encoded, captioned, comes_from, harmless, one
from stepscope.track.media.png import png
from stepscope.track.media.sniff import image_size, mime_of, read_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_FILE_BYTES = 64 << 20
_MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "BGR": 3, "BGRA": 4}
_NAMES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_LAYOUTS = ("HW", "CHW", "HWC", "NHW", "NCHW", "NHWC")
_FILES = ("image/png", "image/apng", "image/jpeg", "image/gif", "image/webp")


@harmless
class Image:
    """An image to log: `run.log({"sample": stepscope.Image(x)})`.

    `data` is a tensor or array (HW, CHW, HWC, or a batch NCHW or NHWC, which becomes a grid), a list of those, a PIL
    image, a matplotlib figure, or the path of a PNG, JPEG, GIF or WebP file. Floats from 0 to 1, integers from 0 to
    255 and booleans are shown unchanged; other ranges are scaled, which the record shows. NaN is magenta.

    `layout` names the axes if the shape alone is ambiguous, `mode="BGR"` is for OpenCV's order, `value_range` sets
    black and white, `columns` shapes the grid, `grid=False` logs a batch as separate images and
    `grid=True` shows a stack of gray images (NHW) as a grid. At most `max_images` of a batch are kept. `boxes` are
    drawn over the image: corners (x0, y0, x1, y1) in pixels, or dicts with `box`, `label` and `score`.
    """

    def __init__(
        self,
        data: Any,
        caption: str | None = None,
        *,
        mode: str | None = None,
        layout: str | None = None,
        value_range: tuple[float, float] | None = None,
        grid: bool | None = None,
        columns: int | None = None,
        max_images: int = 64,
        boxes: Iterable[Any] | None = None,
    ) -> None:
        self.caption = caption
        self._boxes = {} if boxes is None else {"boxes": checked_boxes(boxes)}
        self._mode = _checked_mode(mode)
        self._layout = _checked_layout(layout)
        self._range = pixels.checked_range(value_range)
        self._grid = grid
        self._columns = _checked_count("columns", columns) if columns is not None else None
        self._limit = _checked_count("max_images", max_images)
        self._of = 0
        self._file: tuple[bytes, str, dict[str, Any]] | None = None
        self._held: list[tuple[Held, str]] = []
        if isinstance(data, (str, os.PathLike)):
            self._file = _image_file(data)
        elif comes_from(data, "matplotlib", "FigureBase", "Axes"):
            from stepscope.track.media.figure import render

            self._file = render(data)
        else:
            self._held = self._hold_all(data)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        if self._file is not None:
            data, mime, meta = self._file
            meta = {**meta, **self._boxes}
            return one(key, step, time, kind="image", mime=mime, data=data, meta=meta, caption=self.caption)
        images, meta = self.pixels()
        meta |= self._boxes
        if len(images) > 1 and self._grid is not False:
            sheet, grid = pixels.arrange(images, self._columns)
            images, meta = [sheet], {**meta, **grid}
        out: Encoded = []
        for index, image in enumerate(images):
            described = {"width": image.shape[1], "height": image.shape[0], "mode": _NAMES[image.shape[2]], **meta}
            record = Media(
                key=key, step=step, time=time, kind="image", mime="image/png",
                index=index, count=len(images), meta=captioned(described, self.caption),
            )  # fmt: skip
            out.append((record, png(image)))
        return out

    def pixels(self) -> tuple[list[NDArray[np.uint8]], dict[str, Any]]:
        """The images as uint8 arrays of height, width and channels, and the conversions applied."""
        import numpy as np

        meta: dict[str, Any] = {"layout": self._held[0][1]} if self._held else {}
        batches = [pixels.channels_last(held.numpy(), layout, "an image") for held, layout in self._held]
        if len({batch.shape for batch in batches}) == 1:  # one range for all, so that they can be compared
            batches = [np.concatenate(batches)]
        images: list[NDArray[np.uint8]] = []
        for batch in batches:
            levels, notes = pixels.to_uint8(self._ordered(batch), self._range)
            images.extend(levels)
            meta.update(notes)
        if len(batches) > 1 and "scaled" in meta:
            meta["scaled"] = "each"
        if self._of > len(images):
            meta["of"] = self._of
        return images, meta

    def _ordered(self, batch: NDArray[Any]) -> NDArray[Any]:
        channels = batch.shape[-1]
        if self._mode is not None and channels != _MODES[self._mode]:
            raise UsageError(
                f"mode='{self._mode}' means {_MODES[self._mode]} channels, but the image has "
                f"{channels}; omit mode, or convert the image"
            )
        if self._mode in ("BGR", "BGRA"):
            return batch[..., [2, 1, 0, 3][:channels]]
        return batch

    def _hold_all(self, data: Any) -> list[tuple[Held, str]]:
        if isinstance(data, (list, tuple)) and data and not _is_nested_numbers(data):
            self._of = len(data)
            return [self._hold(item, from_list=True) for item in data[: self._limit]]
        return [self._hold(data, from_list=False)]

    def _hold(self, data: Any, from_list: bool) -> tuple[Held, str]:
        if isinstance(data, (str, os.PathLike)) or comes_from(data, "matplotlib", "FigureBase", "Axes"):
            raise UsageError(
                "a grid takes arrays, tensors and PIL images, not files or figures; log a list of "
                "stepscope.Image(...) instead"
            )
        if comes_from(data, "PIL", "Image"):
            held = hold(pixels.from_pil(data), "an image")
            layout = "HW" if len(held.shape) == 2 else "HWC"
            self._check(held.shape, layout, transparent_grey=True)
            return held, layout
        if isinstance(data, Image):
            raise UsageError("an Image inside an Image; pass the arrays themselves, or log a list of Images")
        data, shape = shaped(data, "an image")
        layout = self._layout or self._guess(shape, is_tensor(data), from_list)
        if "N" in layout and len(shape) == len(layout):
            if from_list:
                raise UsageError(f"a list of batches ({layout}, shape {shape}); concatenate them into one batch first")
            self._of = shape[0]
            data = data[: self._limit]
        self._check(shape, layout)  # before anything is copied
        return hold(data, "an image"), layout

    def _stacked(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == 4 or (len(shape) == 3 and self._grid is True)

    def _guess(self, shape: tuple[int, ...], torch_order: bool, from_list: bool) -> str:
        channels = pixels.CHANNELS if self._mode is None else (_MODES[self._mode],)
        if not from_list and self._stacked(shape):
            return "N" + pixels.single_layout(shape[1:], torch_order, channels)
        return pixels.single_layout(shape, torch_order, channels)

    def _check(self, shape: tuple[int, ...], layout: str, transparent_grey: bool = False) -> None:
        """Check the shape when the image is created, not later on another thread."""
        if len(shape) != len(layout):
            raise UsageError(
                f"an image of shape {shape} has {len(shape)} axes, but layout='{layout}' names {len(layout)}; "
                "give one letter per axis"
            )
        size = dict(zip(layout, shape, strict=True))
        pixels.check_pixels(size["W"], size["H"])
        if size.get("N", 1) < 1:
            raise UsageError(f"a batch of shape {shape} has no image; log it only when there is something to see")
        allowed = (1, 2, 3, 4) if self._mode == "LA" or transparent_grey else pixels.CHANNELS
        channels = size.get("C", 1)
        if channels not in allowed:
            raise UsageError(
                f"an image of shape {shape} ({layout}) has {channels} channels; expected 1 (gray), 3 (RGB) or 4 (RGBA)"
            )
        if self._mode is not None and channels != _MODES[self._mode]:
            raise UsageError(
                f"mode='{self._mode}' means {_MODES[self._mode]} channels, but shape {shape} "
                f"({layout}) has {channels}; omit mode, or give layout="
            )


def _image_file(path: str | os.PathLike[str]) -> tuple[bytes, str, dict[str, Any]]:
    data = read_file(path, "image file", MAX_FILE_BYTES)
    mime = mime_of(data[:4096])
    if mime not in _FILES:
        raise UsageError(
            f"image file '{os.fspath(path)}' is {mime or 'of an unknown type'}; expected PNG, JPEG, GIF or WebP "
            "(recognized by its first bytes); use stepscope.File for anything else"
        )
    size = image_size(data, mime)
    if size is None:
        raise UsageError(f"image file '{os.fspath(path)}' ({mime}) has a damaged header; write it again")
    pixels.check_pixels(*size, what=f"image file '{os.fspath(path)}'")
    return data, mime, {"width": size[0], "height": size[1]}


def _is_nested_numbers(data: Sequence[Any]) -> bool:
    """A list of lists of numbers is one image; a list of arrays, tensors or PIL images is several."""
    return all(isinstance(item, (list, tuple, int, float)) for item in data)


def _checked_mode(mode: str | None) -> str | None:
    if mode is not None and mode not in _MODES:
        raise UsageError(f"image mode {mode!r} is not known; expected one of {', '.join(_MODES)}")
    return mode


def _checked_layout(layout: str | None) -> str | None:
    if layout is not None and layout not in _LAYOUTS:
        raise UsageError(f"image layout {layout!r} is not known; expected one of {', '.join(_LAYOUTS)}")
    return layout


def _checked_count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name}={value!r} must be a whole number of at least 1")
    return value
