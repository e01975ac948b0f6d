"""Everything loggable that is not a number. One file per kind; docs/media.md is the user documentation.

A custom class can take part with a method `_stepscope_media_()` that returns any of these.
"""

from __future__ import annotations

from typing import Any

from stepscope.track.media.audio import Audio
from stepscope.track.media.confusion import ConfusionMatrix
from stepscope.track.media.curves import PRCurve, ROCCurve
from stepscope.track.media.embedding import Embedding
from stepscope.track.media.figure import Figure, is_figure
from stepscope.track.media.file import File
from stepscope.track.media.histogram import Histogram
from stepscope.track.media.image import Image
from stepscope.track.media.loggable import Encoded, Loggable, comes_from
from stepscope.track.media.several import Several
from stepscope.track.media.table import Table, is_frame
from stepscope.track.media.text import Html, Markdown, Text
from stepscope.track.media.video import Video

__all__ = [
    "Audio",
    "ConfusionMatrix",
    "Embedding",
    "Encoded",
    "Figure",
    "File",
    "Histogram",
    "Html",
    "Image",
    "Loggable",
    "Markdown",
    "PRCurve",
    "ROCCurve",
    "Several",
    "Table",
    "Text",
    "Video",
    "to_media",
]


def to_media(value: Any) -> Loggable | None:
    """What to log for a user's value, or None if it is not recognized (a number, say).

    Stepscope's own classes pass through; figures, PIL images, data frames and strings are wrapped; a list or tuple
    of such things becomes `Several`, shown side by side. No package is imported just to recognize its objects.
    """
    if isinstance(value, Loggable) and type(value).__module__.startswith("stepscope."):
        return value
    if isinstance(value, str):
        return Text(value)
    if is_figure(value):
        return Figure(value)
    if comes_from(value, "PIL", "Image"):
        return Image(value)
    if is_frame(value):
        return Table(value)
    if isinstance(value, (list, tuple)):
        return _several(value)
    method = getattr(type(value), "_stepscope_media_", None)
    return None if method is None else to_media(method(value))


def _several(values: list[Any] | tuple[Any, ...]) -> Loggable | None:
    if not values or isinstance(values[0], (int, float, complex)):
        return None
    items = [to_media(value) for value in values]
    known = [item for item in items if item is not None]
    return Several(known) if len(known) == len(items) else None
