"""Media that a browser shows without running anything in them. SVG and HTML are not here: both can hold scripts."""

from __future__ import annotations

__all__ = ["SHOWN_IMAGES", "SHOWN_MEDIA"]

SHOWN_IMAGES = frozenset({"image/png", "image/apng", "image/jpeg", "image/gif", "image/webp"})
SHOWN_MEDIA = SHOWN_IMAGES | {"audio/wav", "video/mp4", "video/webm"}
