"""Segmentation masks, drawn: the image in gray with a color per class, or the colors alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepscope.track import media

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

_COLOURS = (
    (230, 25, 75), (60, 180, 75), (0, 130, 200), (245, 130, 48), (145, 30, 180), (70, 240, 240), (240, 50, 230),
    (210, 245, 60), (250, 190, 212), (0, 128, 128), (220, 190, 255), (170, 110, 40), (255, 250, 200), (128, 0, 0),
    (170, 255, 195), (128, 128, 0), (255, 215, 180), (0, 0, 128), (255, 225, 25), (128, 128, 128),
)  # fmt: skip
_MOST_NAMED = 12


def overlaid(picture: Any, options: Mapping[str, Any], mask: Any, names: Mapping[int, str], caption: Any) -> Any:
    """The mask over its image if the pixels are available and have the same size, else on black; classes in words."""
    import numpy as np

    classes = _classes(mask)
    under = _grey(picture, options, classes.shape)
    palette = np.array(_COLOURS, np.uint8)[(classes.astype(np.int64) - 1) % len(_COLOURS)]
    drawn = np.where((classes != 0)[..., None], under // 2 + palette // 2, under).astype(np.uint8)
    found = [int(number) for number in np.unique(classes)]
    listed = ", ".join(f"{number} {names.get(number, '')}".strip() for number in found[:_MOST_NAMED])
    words = f"{mask.key}: {listed}" + (f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else "")
    return media.Image(drawn, caption=f"{caption} · {words}" if caption else words, layout="HWC")


def _classes(mask: Any) -> Any:
    from stepscope.track.media.arrays import numbers

    if mask.data is None:
        from PIL import Image as pillow

        with pillow.open(os.fspath(mask.path)) as opened:
            return numbers(opened.convert("L"), "a mask")
    classes = numbers(mask.data, "a mask").squeeze()
    if classes.ndim != 2:
        from stepscope.errors import UsageError

        raise UsageError(f"a mask of shape {classes.shape}; expected a class number for each pixel, height by width")
    return classes


def _grey(picture: Any, options: Mapping[str, Any], shape: tuple[int, int]) -> Pixels:
    import numpy as np

    grey = np.zeros((*shape, 3), np.uint8)
    if isinstance(picture, str | os.PathLike) or hasattr(picture, "savefig"):
        return grey
    [pixels, *_], _notes = media.Image(picture, **options).pixels()
    if pixels.shape[:2] == shape:
        grey[...] = pixels[..., : min(3, pixels.shape[2])].mean(axis=2, dtype=np.float32).astype(np.uint8)[..., None]
    return grey
