"""Boxes over W&B's pictures, in pixels."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from stepscope.importers.wandb.annotations import boxes_of, coloured, masks_of

CONTENT: dict[str, Any] = {
    "box_data": [
        {"position": {"minX": 0.1, "maxX": 0.5, "minY": 0.2, "maxY": 0.6}, "class_id": 1, "scores": {"acc": 0.9}},
        {"position": {"middle": [20, 16], "width": 8, "height": 6}, "domain": "pixel", "box_caption": "a dog"},
        {"position": {"minX": 0.5, "maxX": 0.1, "minY": 0, "maxY": 1}},
        "no box",
        {"position": {"middle": [1], "width": 1, "height": 1}},
    ],
    "class_labels": {"1": "cat"},
}


def test_parts_and_pixels_become_corners() -> None:
    first, second = boxes_of({"boxes": {"found": {"path": "x.json"}}}, {"x.json": CONTENT}.__getitem__, 40, 30)
    assert first["box"] == pytest.approx([4, 6, 20, 18])
    assert (first["label"], first["score"]) == ("cat", 0.9)
    assert second == {"box": [16, 13, 24, 19], "label": "a dog"}


def test_several_groups_are_told_apart() -> None:
    found = boxes_of({"boxes": {"truth": CONTENT, "found": CONTENT, "odd": 3}}, lambda _: None, 40, 30)
    assert [box["label"] for box in found] == ["truth: cat", "truth: a dog", "found: cat", "found: a dog"]
    assert boxes_of({"boxes": [1]}, lambda _: None, 40, 30) == []


def test_masks_are_files_by_name() -> None:
    value = {"masks": {"found": {"path": "m.png"}, "odd": 1}}
    assert list(masks_of(value, Path)) == [("found", Path("m.png"))]


def test_classes_of_a_mask_get_colours_and_keep_their_numbers() -> None:
    classes = np.array([[0, 1], [2, 200]], np.uint8)
    out = io.BytesIO()
    Image.fromarray(classes).save(out, "PNG")
    drawn = Image.open(io.BytesIO(coloured(out.getvalue())))
    assert np.asarray(drawn).tolist() == classes.tolist()
    pixels = np.asarray(drawn.convert("RGB")).reshape(-1, 3).tolist()
    assert pixels[0] == [0, 0, 0]
    assert len({tuple(pixel) for pixel in pixels}) == 4
    assert coloured(b"GIF89a") == b"GIF89a"
