"""Boxes over an image: a detector's predictions or the ground truth, stored as numbers beside the pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from stepscope.errors import UsageError
from stepscope.track.secrets import mask_text

MAX_BOXES = 500
MAX_LABEL = 200


def checked_boxes(boxes: Iterable[Any]) -> list[dict[str, Any]]:
    """Validated boxes: corners in pixels, with label and score if given.

    >>> checked_boxes([(1, 2, 11, 12), {"box": (0, 0, 5, 5), "label": "cat", "score": 0.9}])
    [{'box': [1.0, 2.0, 11.0, 12.0]}, {'box': [0.0, 0.0, 5.0, 5.0], 'label': 'cat', 'score': 0.9}]
    """
    found = [_checked(box, at) for at, box in enumerate(boxes)]
    if len(found) > MAX_BOXES:
        raise UsageError(f"{len(found):,} boxes over one image; the maximum is {MAX_BOXES}, so pass the best ones")
    return found


def _checked(given: Any, at: int) -> dict[str, Any]:
    corners: Any = given.get("box") if isinstance(given, Mapping) else given
    try:
        x0, y0, x1, y1 = (float(value) for value in corners)
    except (TypeError, ValueError):
        raise UsageError(
            f"box {at} is {given!r}; expected (x0, y0, x1, y1) in pixels, or a dict with those under 'box' "
            "and perhaps 'label' and 'score'"
        ) from None
    if not all(math.isfinite(value) for value in (x0, y0, x1, y1)) or x1 <= x0 or y1 <= y0:
        raise UsageError(f"box {at} is {[x0, y0, x1, y1]}; expected x0 < x1 and y0 < y1, all finite")
    box: dict[str, Any] = {"box": [x0, y0, x1, y1]}
    if isinstance(given, Mapping):
        if given.get("label") is not None:
            box["label"] = mask_text(str(given["label"]))[:MAX_LABEL]
        if given.get("score") is not None:
            box["score"] = float(given["score"])
    return box


def corners_of(box: Mapping[str, Any], width: int, height: int) -> list[float]:
    """The corners, in pixels, of a W&B box: by sides or center, in pixels or fractions of the image.

    >>> corners_of({"position": {"middle": [0.5, 0.5], "width": 0.2, "height": 0.5}}, 100, 40)
    [40.0, 10.0, 60.0, 30.0]
    """
    at = box["position"]
    if "middle" in at:
        (x, y), half_w, half_h = at["middle"], at["width"] / 2, at["height"] / 2
        corners = [x - half_w, y - half_h, x + half_w, y + half_h]
    else:
        corners = [at["minX"], at["minY"], at["maxX"], at["maxY"]]
    sizes = (1, 1, 1, 1) if box.get("domain") == "pixel" else (width, height, width, height)
    return [float(side * size) for side, size in zip(corners, sizes, strict=True)]
