"""From numbers to pixels: axis order, value range, and the layout of grids.

Used by `Image` and `Video`; docs/media.md documents the rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.track.media.loggable import comes_from

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

MAX_PIXELS = 100_000_000
CHANNELS = (1, 3, 4)
_HALF_LEVEL = 0.5 / 255
_MAGENTA = (255, 0, 255)
_GAP_GREY = 128


def single_layout(shape: tuple[int, ...], torch_order: bool, channels: tuple[int, ...] = CHANNELS) -> str:
    """HW, CHW or HWC for one image's shape. If both ends could be channels, tensors are CHW, anything else HWC."""
    if len(shape) == 2:
        return "HW"
    if len(shape) == 3:
        first, last = shape[0] in channels, shape[2] in channels
        if first and last:
            return "CHW" if torch_order else "HWC"
        if first or last:
            return "CHW" if first else "HWC"
        raise UsageError(
            f"an image of shape {shape} has no axis of {' or '.join(map(str, channels))} channels; give layout='NHW' "
            f"to show {shape[0]} gray images as a grid, or pick channels first"
        )
    raise UsageError(
        f"an image of shape {shape} has {len(shape)} axes; expected 2 (HW), 3 (CHW or HWC) or 4 (a batch, NCHW or NHWC)"
    )


def channels_last(array: Array, layout: str, what: str) -> Array:
    """Reorder an array to N, H, W, C."""
    if len(layout) != array.ndim:
        raise UsageError(
            f"{what} of shape {array.shape} has {array.ndim} axes, but layout='{layout}' names {len(layout)}; "
            "give one letter per axis"
        )
    if "C" not in layout:
        array, layout = array[..., None], layout + "C"
    if "N" not in layout:
        array, layout = array[None], "N" + layout
    ordered: Array = array.transpose([layout.index(letter) for letter in "NHWC"])
    return ordered


def check_pixels(width: int, height: int, what: str = "an image") -> None:
    if width * height > MAX_PIXELS:
        raise UsageError(
            f"{what} of {width:,} x {height:,} pixels is larger than the maximum of {MAX_PIXELS:,}; "
            "make it smaller (slice it, or resize it) before logging"
        )
    if width < 1 or height < 1:
        raise UsageError(f"{what} of {width} x {height} pixels is empty; log it only when there is something to see")


def to_uint8(array: Array, value_range: tuple[float, float] | None = None) -> tuple[Pixels, dict[str, Any]]:
    """Pixels from numbers of any type (channels last), and the conversions applied.

    Booleans are black and white, integers from 0 to 255 are unchanged, floats from 0 to 1 are multiplied by 255.
    Anything else is scaled so that the minimum finite value is black and the maximum white: `scaled` has both. NaN
    pixels become magenta and are counted; infinities are clipped to the range.
    """
    import numpy as np

    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(255), {}
    if array.dtype == np.uint8 and value_range is None:
        return array, {}
    values = array.astype(np.float32 if array.dtype.itemsize <= 4 and array.dtype.kind == "f" else np.float64)
    finite = np.isfinite(values)
    all_finite = bool(finite.all())
    meta: dict[str, Any] = {}
    if value_range is not None:
        low, high = value_range
        meta["value_range"] = [low, high]
    else:
        known = values if all_finite else values[finite]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        usual = _usual_range(array.dtype.kind, low, high)
        if usual is None:
            meta["scaled"] = [low, high]
        else:
            low, high = usual
    # In halves, so that the width of a range that spans all of float64 does not overflow.
    half_width = high / 2 - low / 2
    with np.errstate(invalid="ignore", over="ignore"):
        unit = (values / 2 - low / 2) / half_width if half_width > 0 else np.zeros_like(values)
        levels = np.rint(np.clip(unit, 0, 1) * 255)
    pixels = np.nan_to_num(levels, nan=0.0).astype(np.uint8)
    return (pixels, meta) if all_finite else _mark_bad(pixels, values, meta)


def _usual_range(kind: str, low: float, high: float) -> tuple[float, float] | None:
    """0 to 255 for integers and 0 to 1 for floats, if the values are inside."""
    if kind in "iu" and low >= 0 and high <= 255:
        return 0.0, 255.0
    if kind == "f" and low >= -_HALF_LEVEL and high <= 1 + _HALF_LEVEL:
        return 0.0, 1.0
    return None


def _mark_bad(pixels: Pixels, values: Array, meta: dict[str, Any]) -> tuple[Pixels, dict[str, Any]]:
    import numpy as np

    for name, count in (("pos_inf", (values == np.inf).sum()), ("neg_inf", (values == -np.inf).sum())):
        if count:
            meta[name] = int(count)
    nan = np.isnan(values).any(axis=-1)
    if not nan.any():
        return pixels, meta
    meta["nan"] = int(nan.sum())
    if pixels.shape[-1] <= 2:
        alpha = pixels[..., 1:]
        pixels = np.concatenate((np.repeat(pixels[..., :1], 3, axis=-1), alpha), axis=-1)
    pixels[nan, :3] = _MAGENTA
    if pixels.shape[-1] == 4:
        pixels[nan, 3] = 255
    return pixels, meta


def arrange(images: Sequence[Pixels], columns: int | None) -> tuple[Pixels, dict[str, Any]]:
    """Images in reading order on a gray sheet, two pixels apart; smaller ones are aligned to the top left."""
    import numpy as np

    images = _same_channels(images)
    columns = min(len(images), columns or math.ceil(math.sqrt(len(images))))
    rows = math.ceil(len(images) / columns)
    cell_height, cell_width = (max(image.shape[axis] for image in images) for axis in (0, 1))
    gap = 2
    height, width = rows * (cell_height + gap) + gap, columns * (cell_width + gap) + gap
    check_pixels(width, height, f"a grid of {len(images)} images")
    channels = images[0].shape[2]
    sheet = np.full((height, width, channels), _GAP_GREY, np.uint8)
    if channels == 4:
        sheet[..., 3] = 0
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        top, left = gap + row * (cell_height + gap), gap + column * (cell_width + gap)
        sheet[top : top + image.shape[0], left : left + image.shape[1]] = image
    grid = {"rows": rows, "columns": columns, "images": len(images), "cell": [cell_width, cell_height]}
    return sheet, grid


def _same_channels(images: Sequence[Pixels]) -> Sequence[Pixels]:
    """Gray beside color becomes color; if one image has transparency, all get it."""
    import numpy as np

    found = {image.shape[2] for image in images}
    if len(found) == 1 and found <= {1, 3, 4}:
        return images
    alpha = bool(found & {2, 4})
    out = []
    for image in images:
        colour = image[..., :3] if image.shape[2] >= 3 else np.repeat(image[..., :1], 3, axis=2)
        if alpha:
            opacity = image[..., -1:] if image.shape[2] in (2, 4) else np.full_like(image[..., :1], 255)
            colour = np.concatenate((colour, opacity), axis=2)
        out.append(colour)
    return out


def from_pil(image: Any) -> Any:
    """A PIL image as an array of visible pixels (palettes and other color spaces resolved); anything else unchanged."""
    if not comes_from(image, "PIL", "Image"):
        return image
    import numpy as np

    check_pixels(*image.size)
    if image.mode in ("1", "L", "LA", "RGB", "RGBA", "F", "I", "I;16", "I;16L", "I;16B"):
        return np.array(image)
    transparent = "transparency" in image.info or image.mode in ("PA", "La", "RGBa")
    return np.array(image.convert("RGBA" if transparent else "RGB"))


def checked_range(value_range: tuple[float, float] | None) -> tuple[float, float] | None:
    if value_range is None:
        return None
    try:
        low, high = (float(end) for end in value_range)
    except (TypeError, ValueError):
        raise UsageError(f"value_range={value_range!r} must be two numbers, such as (-1, 1)") from None
    if not (-float("inf") < low < high < float("inf")):
        raise UsageError(f"value_range={value_range!r} must be finite and increasing, such as (-1, 1)")
    return low, high
