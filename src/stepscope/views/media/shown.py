"""Media types that a browser shows without executing anything. SVG and HTML are excluded: both can contain scripts."""

from __future__ import annotations

SHOWN_IMAGES = frozenset({"image/png", "image/apng", "image/jpeg", "image/gif", "image/webp"})
SHOWN_MEDIA = SHOWN_IMAGES | {"audio/wav", "video/mp4", "video/webm"}
