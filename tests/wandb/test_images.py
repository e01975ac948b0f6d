from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

pillow = pytest.importorskip("PIL.Image")


def pixels(run: Any, key: str) -> list[Any]:
    return [np.asarray(pillow.open(io.BytesIO(run.media_bytes(each)))) for each in run.media(key)]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.array([[0.0, 0.5, 1.0]]), [0, 128, 255]),
        (np.array([[-1.0, 0.0, 1.0]]), [0, 128, 255]),
        (np.array([[0.0, 100.0, 255.0]]), [0, 100, 255]),
        (np.array([[-5.0, 100.0, 300.0]]), [0, 100, 255]),
        (np.array([[0, 1, 1]]), [0, 255, 255]),
        (np.array([[0, 7, 255]], np.uint8), [0, 7, 255]),
        (torch.tensor([[[0.0, 0.5, 1.0]]]), [0, 128, 255]),
    ],
)
def test_values_are_stretched_by_its_rules(
    wandb: ModuleType, last: Callable[[], Any], values: Any, shown: list[int]
) -> None:
    with wandb.init(project="p") as run:
        run.log({"x": wandb.Image(values)})
    [found] = pixels(last(), "x")
    assert found.reshape(-1).tolist() == shown


def test_boxes_are_kept_in_pixels_with_their_words(wandb: ModuleType, last: Callable[[], Any]) -> None:
    boxes = {
        "predictions": {
            "box_data": [
                {"position": {"minX": 0.1, "maxX": 0.5, "minY": 0.2, "maxY": 0.4}, "class_id": 1, "scores": {"p": 0.9}},
                {"position": {"middle": [10, 5], "width": 4, "height": 2}, "domain": "pixel", "box_caption": "dog"},
            ],
            "class_labels": {0: "none", 1: "cat"},
        },
    }
    with wandb.init(project="p") as run:
        image = wandb.Image(np.zeros((10, 20, 3), np.uint8), boxes=boxes)
        assert (image.width, image.height) == (20, 10)
        run.log({"x": image, "copy": wandb.Image(image, caption="c")})
    [record] = last().media("x")
    assert record.meta["boxes"] == [
        {"box": [2.0, 2.0, 10.0, 4.0], "label": "cat", "score": 0.9},
        {"box": [8.0, 4.0, 12.0, 6.0], "label": "dog"},
    ]
    [copy] = last().media("copy")
    assert copy.meta["caption"] == "c"
    assert "boxes" not in copy.meta


def test_masks_are_drawn_over_the_picture(wandb: ModuleType, last: Callable[[], Any]) -> None:
    picture = np.full((4, 4, 3), 200, np.uint8)
    mask = np.zeros((4, 4), np.uint8)
    mask[:2] = 1
    masks = {"truth": {"mask_data": mask, "class_labels": {1: "road"}}, "guess": {"mask_data": mask[::-1]}}
    with wandb.init(project="p") as run:
        run.log({"x": wandb.Image(picture, caption="street", masks=masks)})
    records = last().media("x")
    assert [record.meta["caption"] for record in records] == [
        "street",
        "street · truth: 0, 1 road",
        "street · guess: 0, 1",
    ]
    plain, truth, guess = pixels(last(), "x")
    assert (plain == 200).all()
    assert (truth[2:] == 200).all()
    assert len(set(truth[0, 0].tolist())) > 1
    assert np.array_equal(truth, guess[::-1])


def test_files_of_every_kind_and_what_is_no_picture(
    wandb: ModuleType, last: Callable[[], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pillow.fromarray(np.full((3, 3, 3), 7, np.uint8)).save("a.png")
    pillow.fromarray(np.full((3, 3, 3), 7, np.uint8)).save("a.bmp")
    with wandb.init(project="p") as run:
        run.log({"png": wandb.Image("a.png"), "bmp": wandb.Image(tmp_path / "a.bmp"), "n": 1})
        run.log(
            {"bad": wandb.Image(np.zeros((2, 2, 7))), "missing": wandb.Image("no.png"), "odd": wandb.Image(object())}
        )
        run.log({"n": 2})
    assert (pixels(last(), "png")[0] == pixels(last(), "bmp")[0]).all()
    assert last().series("n").values.tolist() == [1.0, 2.0]
    assert last().media("bad") == []
    said = capsys.readouterr().err
    assert "'bad' (media) was not logged" in said
    assert "7 channels" in said
    assert "'missing' (media) was not logged: image file 'no.png' is missing" in said


def test_the_picture_can_be_had_back(wandb: ModuleType) -> None:
    assert wandb.Image(np.full((2, 3), 9, np.uint8)).image.size == (3, 2)
