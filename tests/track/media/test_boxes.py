"""Boxes over images: kept as numbers, refused in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stepscope.errors import UsageError
from stepscope.track.media import Image


def test_boxes_stand_in_the_record_of_the_image() -> None:
    boxes = [np.array([1, 2, 5, 6]), {"box": (0, 0, 3, 3), "label": "cat", "score": np.float32(0.5)}]
    [(record, _)] = Image(np.zeros((8, 8)), boxes=boxes).encode("k", 0, 0.0)
    assert record.meta["boxes"] == [{"box": [1, 2, 5, 6]}, {"box": [0, 0, 3, 3], "label": "cat", "score": 0.5}]


def test_an_image_without_boxes_says_nothing_of_them() -> None:
    [(record, _)] = Image(np.zeros((8, 8))).encode("k", 0, 0.0)
    assert "boxes" not in record.meta


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ((1, 2, 3), r"expected \(x0, y0, x1, y1\) in pixels"),
        ((5, 0, 1, 1), "expected x0 < x1 and y0 < y1"),
        ((0, 0, float("inf"), 1), "all finite"),
        ({"label": "cat"}, "under 'box'"),
    ],
)
def test_what_is_no_box_is_refused_with_its_value(box: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Image(np.zeros((8, 8)), boxes=[box]).encode("k", 0, 0.0)
