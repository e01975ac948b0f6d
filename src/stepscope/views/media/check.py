"""Images are checked before a browser decodes them: a few bytes may claim gigabytes of pixels."""

from __future__ import annotations

from stepscope.runs.format.image_head import image_size, mime_of
from stepscope.views.media.shown import SHOWN_IMAGES

HEAD_BYTES = 1 << 18
MAX_PIXELS = 100_000_000
"""The limit of `stepscope.Image`; anything larger was not written by it."""


def image_fault(head: bytes, mime: str, whole: bool = True) -> str | None:
    """Why these bytes, recorded as an image, must not be sent to a browser as one; None if they may be.

    Without `whole`, the bytes are only the beginning.

    >>> image_fault(b"<svg onload=alert(1)>", "image/png")
    'its bytes are not those of an image'
    """
    if not mime.startswith("image/"):
        return None
    found = mime_of(head)
    if found is None or not found.startswith("image/"):
        # Other types, SVG included, are only ever downloaded, so there is nothing to reject.
        return "its bytes are not those of an image" if mime in SHOWN_IMAGES else None
    size = image_size(head, found)
    if size is None:
        return f"its header ({found}) is damaged"
    width, height = size
    if width * height > MAX_PIXELS:
        return f"it claims to have {width:,} x {height:,} pixels, more than the {MAX_PIXELS:,} that are shown"
    if whole and found.endswith("png") and b"IEND" not in head:  # a browser would silently show it blank
        return "it is truncated"
    return None
