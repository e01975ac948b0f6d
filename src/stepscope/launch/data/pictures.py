"""Images among the samples, as one sheet."""

from __future__ import annotations

from typing import Any

from stepscope.launch.data.field_stats import Field, as_array
from stepscope.track.media.image import Image
from stepscope.track.media.pixels import channels_last, single_layout

MOST = 64
_SMALLEST = 6
_SEEN = 48


def is_picture(one: Field) -> bool:
    """Told by its shape: two or three axes, one of them 1, 3 or 4 channels, the others at least a few pixels.

    >>> is_picture(Field("x", "Tensor", "float32", shapes=[(3, 32, 32)], low=0.0))
    True
    >>> is_picture(Field("tokens", "Tensor", "int64", shapes=[(12,)]))
    False
    """
    if not one.shapes or one.low is None:
        return False
    shape = one.shapes[0]
    if len(shape) == 3 and (shape[0] in (1, 3, 4) or shape[2] in (1, 3, 4)):
        sides = shape[1:] if shape[0] in (1, 3, 4) else shape[:2]
    elif len(shape) == 2 and (one.type == "Image" or (one.low >= 0 and max(shape) <= 2 * min(shape))):
        sides = shape
    else:
        return False
    return min(sides) >= _SMALLEST and one.dtype not in ("int64", "int32")


def sheet_of(values: list[Any]) -> Image | None:
    """The first few dozen on one sheet, in their order; tiny ones are enlarged so that they can be seen."""
    chosen = [(as_array(value), hasattr(value, "detach")) for value in values[:MOST]]
    arrays = [_enlarged(array, is_tensor) for array, is_tensor in chosen if array is not None]
    return Image(arrays, layout="HWC") if arrays else None


def _enlarged(array: Any, is_tensor: bool) -> Any:
    layout = single_layout(tuple(array.shape), is_tensor)
    image = channels_last(array, layout, "an image")[0]
    times = max(1, _SEEN // max(image.shape[:2]))
    return image.repeat(times, axis=0).repeat(times, axis=1)
