"""Curves: scikit-learn's numbers, and thinning that keeps the shape."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from sklearn import metrics

from stepscope.errors import UsageError
from stepscope.track.media import PRCurve, ROCCurve

RNG = np.random.default_rng(4)


def drawn(curve: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    [(record, data)] = curve.encode("k", 0, 0.0)
    assert (record.kind, record.mime) == ("curve", "application/json")
    curves = json.loads(data)["curves"]
    assert [c["area"] for c in curves] == record.meta["area"]
    for c in curves:
        assert len(c["x"]) == len(c["y"]) == len(c["thresholds"]) <= 500
    return record.meta, curves


def noisy(size: int, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    truth = RNG.integers(0, 2, size)
    scores = truth + RNG.normal(size=size) * 1.5
    return truth, scores if decimals is None else scores.round(decimals)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40))
def test_areas_are_scikit_learns_for_any_ties(samples: list[tuple[bool, int]]) -> None:
    truth, scores = np.array([t for t, _ in samples]), np.array([float(s) for _, s in samples])
    roc, pr = drawn(ROCCurve(truth, scores))[1][0], drawn(PRCurve(truth, scores))[1][0]
    if truth.any() and not truth.all():
        assert roc["area"] == pytest.approx(metrics.roc_auc_score(truth, scores), abs=1e-12)
    else:
        assert (roc["area"], roc["x"]) == (None, [])
    if truth.any():
        assert pr["area"] == pytest.approx(metrics.average_precision_score(truth, scores), abs=1e-12)
    else:
        assert (pr["area"], pr["x"]) == (None, [])


def farthest(x: np.ndarray, y: np.ndarray, curve: dict[str, Any]) -> float:
    """How far any of (up to 2,000 of) the points lies from the drawn line."""
    some = np.linspace(0, len(x) - 1, 2000).astype(int)
    points = np.stack([x, y], axis=1)[some][:, None]
    line = np.stack([curve["x"], curve["y"]], axis=1)
    start, along = line[None, :-1], (line[1:] - line[:-1])[None]
    share = ((points - start) * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-30)
    nearest = start + np.clip(share, 0, 1)[..., None] * along
    return float(np.sqrt(((points - nearest) ** 2).sum(-1)).min(axis=1).max())


@pytest.mark.parametrize("decimals", [1, None])
def test_the_points_are_scikit_learns(decimals: int | None) -> None:
    truth, scores = noisy(200, decimals)
    [roc] = drawn(ROCCurve(truth, scores))[1]
    x, y, thresholds = metrics.roc_curve(truth, scores, drop_intermediate=False)
    known = dict(zip(thresholds, zip(x, y, strict=True), strict=True))
    ours = list(zip(roc["x"], roc["y"], roc["thresholds"], strict=True))
    assert ours[0] == (0.0, 0.0, None)
    assert all(known[t] == pytest.approx((x_, y_)) for x_, y_, t in ours[1:])
    assert farthest(x, y, roc) < 1e-9
    [pr] = drawn(PRCurve(truth, scores))[1]
    precision, recall, thresholds = metrics.precision_recall_curve(truth, scores)
    known = dict(zip(thresholds, zip(recall, precision, strict=False), strict=False))
    ours = list(zip(pr["x"], pr["y"], pr["thresholds"], strict=True))
    assert ours[0] == (0.0, 1.0, None)
    assert all(known[t] == pytest.approx((x_, y_)) for x_, y_, t in ours[1:])
    assert farthest(recall, precision, pr) < 1e-9


@pytest.mark.parametrize("curve", [PRCurve, ROCCurve])
@pytest.mark.parametrize("size", [600, 20_000, 200_000])
def test_thinning_keeps_the_shape(curve: Any, size: int) -> None:
    truth, scores = noisy(size)
    [thin] = drawn(curve(truth, scores))[1]
    if curve is ROCCurve:
        x, y, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
    else:
        y, x, _ = metrics.precision_recall_curve(truth, scores)
    assert farthest(x, y, thin) < 0.005
    assert (thin["x"][0], thin["x"][-1]) == (0.0, 1.0)


def test_a_nearly_perfect_roc_keeps_its_corner() -> None:
    truth = RNG.integers(0, 2, 50_000)
    scores = truth * 4 + RNG.normal(size=50_000)
    [thin] = drawn(ROCCurve(truth, scores))[1]
    x, y, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
    area = np.trapezoid(thin["y"], thin["x"])
    assert area == pytest.approx(metrics.auc(x, y), abs=1e-4)


@pytest.mark.parametrize("kind", ["numpy", "torch", "names"])
def test_several_classes_are_one_against_the_rest(kind: str) -> None:
    truth = RNG.integers(0, 3, 300)
    scores = RNG.normal(size=(300, 3)) + np.eye(3)[truth]
    given_truth: Any = truth
    given_scores: Any = scores
    if kind == "torch":
        given_truth, given_scores = torch.from_numpy(truth), torch.from_numpy(scores).requires_grad_()
    if kind == "names":
        given_truth = [["cat", "dog", "cow"][t] for t in truth]
    meta, curves = drawn(ROCCurve(given_truth, given_scores, labels=["cat", "dog", "cow"]))
    assert (meta["curve"], meta["labels"]) == ("roc", ["cat", "dog", "cow"])
    for number, curve in enumerate(curves):
        assert curve["area"] == pytest.approx(metrics.roc_auc_score(truth == number, scores[:, number]))
        assert curve["positives"] + curve["negatives"] == 300


def test_two_columns_are_one_curve_of_the_second_class() -> None:
    truth, scores = noisy(100)
    [curve] = drawn(PRCurve(truth, np.stack([-scores, scores], 1), labels=["no", "yes"]))[1]
    assert curve["label"] == "yes"
    assert curve["area"] == pytest.approx(metrics.average_precision_score(truth, scores))


def test_any_two_values_the_greater_being_positive() -> None:
    assert drawn(PRCurve([-1, 1, 1], [0.1, 0.9, 0.8]))[1][0]["positives"] == 2
    [curve] = drawn(PRCurve(["ham", "spam"], [0.1, 0.9]))[1]
    assert (curve["label"], curve["area"]) == ("spam", 1.0)


def test_later_changes_do_not_show() -> None:
    truth, scores = noisy(50)
    curve = PRCurve(truth, scores)
    before = curve.encode("k", 0, 0.0)
    truth[:], scores[:] = 0, 0
    assert curve.encode("k", 0, 0.0) == before


@pytest.mark.parametrize(
    ("truth", "scores", "labels", "message"),
    [
        ([0, 1], [0.1], None, r"shape \(1,\) for 2 samples"),
        ([0, 1], [0.1, float("nan")], None, "holds 1 NaN"),
        ([0, 1, 2], [0.1, 0.2, 0.3], None, "3 different classes"),
        ([0, 3], [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]], None, "classes from 0 to 3, but y_score has 3 columns"),
        ([], [], None, "y_true is empty"),
        ([0.5, 1], [1, 2], None, "fractions"),
        (["a", "b"], [[0, 1, 2], [0, 1, 2]], None, "labels= must name"),
        (["a", "b"], [[0, 1, 2], [0, 1, 2]], ["a", "x", "y"], "has b, which labels= does not name"),
        ([0, 1], [[0, 1, 2], [0, 1, 2]], ["a"], "1 labels for 3 classes"),
        ([0, 1], [0, 1], ["a", "b", "c"], "3 labels for a curve of two classes"),
        ([[0, 1], [1, 0]], [0, 1], None, "flat list"),
        (np.zeros(2, int), np.zeros((2, 101)), None, "101 classes"),
    ],
)
def test_what_is_wrong_is_said(truth: Any, scores: Any, labels: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PRCurve(truth, scores, labels).encode("k", 0, 0.0)
