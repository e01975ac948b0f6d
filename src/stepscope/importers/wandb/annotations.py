"""Boxes and masks over W&B's pictures: boxes are drawn by the page, masks are pictures of class numbers beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import StepscopeError
from stepscope.track.media.boxes import MAX_BOXES, checked_boxes

__all__ = ["boxes_of", "masks_of"]


def boxes_of(value: Mapping[str, Any], read: Callable[[Any], Any], width: int, height: int) -> list[dict[str, Any]]:
    """All boxes of a picture, in its pixels; what is no box is left out."""
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
    at = box["position"]
    if "middle" in at:
        (x, y), wide, high = at["middle"], at["width"] / 2, at["height"] / 2
        corners = [x - wide, y - high, x + wide, y + high]
    else:
        corners = [at["minX"], at["minY"], at["maxX"], at["maxY"]]
    if box.get("domain") != "pixel":  # else parts of the picture, from 0 to 1
        corners = [side * size for side, size in zip(corners, (width, height, width, height), strict=True)]
    label = box.get("box_caption") or names.get(str(box.get("class_id")), box.get("class_id"))
    scores = list((box.get("scores") or {}).values())
    return {
        "box": corners,
        "label": None if label is None else f"{words}{label}",
        "score": scores[0] if scores else None,
    }


def masks_of(value: Mapping[str, Any], file: Callable[[Any], Path]) -> Iterator[tuple[str, Path]]:
    """The masks of a picture by name, each a picture in which the grey is the number of a class."""
    groups = value.get("masks")
    for name, group in groups.items() if isinstance(groups, dict) else ():
        if isinstance(group, dict) and "path" in group:
            yield str(name), file(group["path"])
