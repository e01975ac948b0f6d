"""Boxes and masks over W&B's images: the page draws boxes; masks become separate images with a color per class."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import StepscopeError
from stepscope.track.media.boxes import MAX_BOXES, checked_boxes, corners_of

_COLOURS = (
    (230, 25, 75), (60, 180, 75), (0, 130, 200), (245, 130, 48), (145, 30, 180), (70, 240, 240), (240, 50, 230),
    (210, 245, 60), (250, 190, 212), (0, 128, 128), (220, 190, 255), (170, 110, 40), (255, 250, 200), (128, 0, 0),
)  # fmt: skip
_GREY, _INDEXED = 0, 3
_HEADER_END = 33
"""The start of a PNG: eight bytes, then the chunk with its size and pixel format."""


def boxes_of(value: Mapping[str, Any], read: Callable[[Any], Any], width: int, height: int) -> list[dict[str, Any]]:
    """All boxes of an image, in pixels; invalid ones are skipped."""
    groups = value.get("boxes")
    found: list[dict[str, Any]] = []
    for name, group in groups.items() if isinstance(groups, dict) else ():
        content = read(group["path"]) if isinstance(group, dict) and "path" in group else group
        if isinstance(content, dict):
            words = f"{name}: " if len(groups or ()) > 1 else ""
            found += _boxes(content, width, height, words)
    return found[:MAX_BOXES]


def _boxes(content: dict[str, Any], width: int, height: int, words: str) -> Iterator[dict[str, Any]]:
    names = content.get("class_labels")
    for box in content.get("box_data") or ():
        try:
            yield checked_boxes([_box(box, names if isinstance(names, dict) else {}, width, height, words)])[0]
        except (StepscopeError, TypeError, ValueError, KeyError, AttributeError):
            continue


def _box(box: Any, names: dict[str, Any], width: int, height: int, words: str) -> dict[str, Any]:
    label = box.get("box_caption") or names.get(str(box.get("class_id")), box.get("class_id"))
    scores = list((box.get("scores") or {}).values())
    return {
        "box": corners_of(box, width, height),
        "label": None if label is None else f"{words}{label}",
        "score": scores[0] if scores else None,
    }


def masks_of(value: Mapping[str, Any], file: Callable[[Any], Path]) -> Iterator[tuple[str, Path]]:
    """The masks of an image by name, each an image whose gray value is a class number."""
    groups = value.get("masks")
    for name, group in groups.items() if isinstance(groups, dict) else ():
        if isinstance(group, dict) and "path" in group:
            yield str(name), file(group["path"])


def coloured(png: bytes) -> bytes:
    """A gray PNG of class numbers, with a color per class; any other image is unchanged.

    The packed pixels are unchanged: only their meaning changes, from shades to palette indices.
    """
    head = png[16:29]
    if png[:8] != b"\x89PNG\r\n\x1a\n" or len(head) < 13 or (head[8], head[9]) != (8, _GREY) or b"tRNS" in png[:4096]:
        return png
    colours = [(0, 0, 0), *(_COLOURS[number % len(_COLOURS)] for number in range(255))]
    palette = bytes(part for colour in colours for part in colour)
    header = head[:9] + bytes([_INDEXED]) + head[10:]
    return png[:8] + _chunk(b"IHDR", header) + _chunk(b"PLTE", palette) + png[_HEADER_END:]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
