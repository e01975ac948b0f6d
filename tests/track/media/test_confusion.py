"""Confusion matrices: scikit-learn's counts for numbers, names and scores."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from sklearn import metrics

from stepscope.errors import UsageError
from stepscope.track.media import ConfusionMatrix

RNG = np.random.default_rng(5)
TRUE, PREDICTED = RNG.integers(0, 4, 200), RNG.integers(0, 4, 200)


def content(matrix: ConfusionMatrix) -> tuple[dict[str, Any], list[str], list[list[int]]]:
    [(record, data)] = matrix.encode("k", 0, 0.0)
    assert (record.kind, record.mime) == ("confusion", "application/json")
    assert data is not None
    tree = json.loads(data)
    return record.meta, tree["labels"], tree["counts"]


@pytest.mark.parametrize("wrap", [np.asarray, torch.as_tensor, lambda a: a.tolist(), lambda a: a.astype(float)])
def test_counts_are_scikit_learns(wrap: Any) -> None:
    meta, labels, counts = content(ConfusionMatrix(wrap(TRUE), wrap(PREDICTED)))
    assert counts == metrics.confusion_matrix(TRUE, PREDICTED).tolist()
    assert labels == ["0", "1", "2", "3"]
    accuracy = pytest.approx((TRUE == PREDICTED).mean())
    assert meta == {"classes": 4, "total": 200, "accuracy": accuracy}


def test_scores_count_by_their_highest_column() -> None:
    scores = torch.eye(4)[torch.from_numpy(PREDICTED)].requires_grad_()
    assert content(ConfusionMatrix(TRUE, scores))[2] == metrics.confusion_matrix(TRUE, PREDICTED).tolist()


def test_names_sort_themselves_or_follow_the_labels() -> None:
    assert content(ConfusionMatrix(["b", "a"], ["a", "a"]))[1:] == (["a", "b"], [[1, 0], [1, 0]])
    assert content(ConfusionMatrix(["b", "a"], ["a", "a"], ["b", "a", "c"]))[1:] == (
        ["b", "a", "c"],
        [[0, 1, 0], [0, 1, 0], [0, 0, 0]],
    )


def test_labels_name_the_numbers_and_keep_unseen_classes() -> None:
    assert content(ConfusionMatrix([0], [1], ["x", "y", "z"]))[1:] == (
        ["x", "y", "z"],
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
    )


def test_a_matrix_made_elsewhere() -> None:
    meta, _, counts = content(ConfusionMatrix(counts=np.array([[1, 2], [3, 4]])))
    assert (meta, counts) == ({"classes": 2, "total": 10, "accuracy": 0.5}, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either y_true and y_pred, or counts="),
        ({"y_true": [1]}, "either y_true and y_pred"),
        ({"y_true": [1], "y_pred": [1, 2]}, "1 samples and y_pred 2"),
        ({"y_true": [-1], "y_pred": [0]}, "classes from -1"),
        ({"y_true": [5], "y_pred": [0], "labels": ["a"]}, "1 labels; expected class numbers from 0 to 0"),
        ({"y_true": ["q"], "y_pred": ["a"], "labels": ["a"]}, "classes q are not among"),
        ({"y_true": [], "y_pred": []}, "empty"),
        ({"y_true": [5000], "y_pred": [0]}, "5,001 classes"),
        ({"counts": [[1, 2]]}, r"shape \(1, 2\)"),
        ({"counts": [[-1.0]]}, "non-negative"),
        ({"counts": [[1]], "labels": ["a", "b"]}, "2 labels for 1 classes"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ConfusionMatrix(**arguments).encode("k", 0, 0.0)
