"""Embeddings: rows, labels and thumbnails come apart again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest
import torch

from stepscope.errors import UsageError
from stepscope.track.media import Embedding

VECTORS = np.random.default_rng(6).normal(size=(5, 3))


@pytest.mark.parametrize("given", [VECTORS, VECTORS.tolist(), torch.from_numpy(VECTORS).requires_grad_()])
def test_rows_come_back_as_float32(given: Any) -> None:
    [(record, data)] = Embedding(given).encode("k", 0, 0.0)
    assert (record.kind, record.meta) == ("embedding", {"rows": 5, "width": 3, "labels": False})
    assert data is not None
    np.testing.assert_array_equal(np.frombuffer(data, "<f4").reshape(5, 3), VECTORS.astype(np.float32))


def test_labels_follow_the_rows() -> None:
    [(record, data)] = Embedding(VECTORS, labels=np.array([1, 2, 3, 4, 5]), caption="c").encode("k", 0, 0.0)
    assert record.meta == {"rows": 5, "width": 3, "labels": True, "caption": "c"}
    assert data is not None
    assert json.loads(data[5 * 3 * 4 :]) == {"labels": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize("shape", [(5, 4, 6), (5, 1, 4, 6), (5, 4, 6, 3)])
def test_thumbnails_are_one_sheet_found_by_its_hash(shape: tuple[int, ...]) -> None:
    [(record, _), (sheet, png)] = Embedding(VECTORS, images=np.zeros(shape)).encode("k", 0, 0.0)
    assert (record.index, record.count, sheet.index, sheet.count, sheet.kind) == (0, 2, 1, 2, "image")
    assert png is not None
    assert record.meta["sprite"] == hashlib.sha256(png).hexdigest()
    assert (record.meta["sprite_cell"], record.meta["sprite_columns"]) == ([6, 4], 3)
    assert sheet.meta["sprite"] is True


def test_the_thumbnail_of_a_single_vector_is_its_own_cell() -> None:
    [(record, _), _] = Embedding(VECTORS[:1], images=np.zeros((1, 4, 6))).encode("k", 0, 0.0)
    assert (record.meta["sprite_cell"], record.meta["sprite_columns"]) == ([6, 4], 1)


def test_bad_rows_are_counted() -> None:
    vectors = VECTORS.copy()
    vectors[2, 1] = np.nan
    assert Embedding(vectors).encode("k", 0, 0.0)[0][0].meta["nan"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vectors": [1.0]}, r"shape \(1,\)"),
        ({"vectors": np.zeros((0, 3))}, "none of them 0"),
        ({"vectors": VECTORS, "labels": ["a"]}, "1 labels for 5 vectors"),
        ({"vectors": VECTORS, "images": np.zeros((4, 2, 2))}, "4 images for 5 vectors"),
        ({"vectors": np.broadcast_to(np.float32(0), (10**6, 1000))}, "take a sample"),
        ({"vectors": np.zeros((5000, 1)), "images": np.zeros((5000, 1, 1))}, "5,000 images"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Embedding(**arguments).encode("k", 0, 0.0)


def test_several_columns_of_labels_come_back_by_name() -> None:
    columns = {"class": list("abcde"), "loss": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}
    [(record, data)] = Embedding(VECTORS, labels=columns).encode("k", 0, 0.0)
    assert data is not None
    assert record.meta["labels"] is True
    assert json.loads(data[VECTORS.size * 4 :]) == {
        "labels": list("abcde"),
        "columns": {"class": list("abcde"), "loss": [1.0, 2.0, 3.0, 4.0, 5.0]},
    }


def test_a_column_of_another_length_is_named() -> None:
    with pytest.raises(UsageError, match="2 labels for 5 vectors in the column 'loss'; give one each"):
        Embedding(VECTORS, labels={"class": list("abcde"), "loss": [1, 2]}).encode("k", 0, 0.0)
