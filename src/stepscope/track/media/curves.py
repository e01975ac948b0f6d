"""Precision-recall and ROC curves, computed exactly from true classes and scores, then thinned for the screen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope.errors import UsageError
from stepscope.track.media.arrays import numbers, to_float64
from stepscope.track.media.classes import class_names, class_values
from stepscope.track.media.loggable import Encoded, harmless, one

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counted = tuple[Floats, Floats, Floats]

MAX_POINTS = 500
MAX_CLASSES = 100


@harmless
class _Curve(ABC):
    """One curve per class (one against the rest), or a single one for two classes."""

    name = ""

    def __init__(
        self, y_true: Any, y_score: Any, labels: Sequence[str] | None = None, *, caption: str | None = None
    ) -> None:
        self.caption = caption
        self._curves = [(label, truth, scores) for label, truth, scores in _one_against_rest(y_true, y_score, labels)]

    def keep_only(self, labels: Collection[str]) -> None:
        """Drop the curves of other classes."""
        self._curves = [curve for curve in self._curves if curve[0] in labels]

    def encode(self, key: str, step: int, time: float) -> Encoded:
        curves = [self._drawn(*curve) for curve in self._curves]
        data = msgspec.json.encode({"curves": curves})
        areas = [curve["area"] for curve in curves]
        meta = {"curve": self.name, "labels": [curve["label"] for curve in curves], "area": areas}
        return one(key, step, time, kind="curve", mime="application/json", data=data, meta=meta, caption=self.caption)

    def _drawn(self, label: str, truth: NDArray[np.bool_], scores: Floats) -> dict[str, Any]:
        positives = int(truth.sum())
        drawn: dict[str, Any] = {"label": label, "positives": positives, "negatives": len(truth) - positives}
        found = self._computed(truth, scores) if self._defined(positives, len(truth)) else None
        if found is None:
            return {**drawn, "area": None, "x": [], "y": [], "thresholds": []}
        x, y, thresholds, area = found
        kept = thinned(x, y)
        # The first point has no threshold: nothing is predicted positive there.
        marks = [None, *thresholds[kept[1:]].tolist()]
        return {**drawn, "area": area, "x": x[kept].tolist(), "y": y[kept].tolist(), "thresholds": marks}

    @abstractmethod
    def _defined(self, positives: int, total: int) -> bool:
        """Whether there is a curve at all, with this many positives among this many samples."""

    @abstractmethod
    def _computed(self, truth: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats, Floats, float]:
        """x, y, thresholds and the area."""


class PRCurve(_Curve):
    """Precision over recall: `run.log({"pr": stepscope.PRCurve(y_true, y_score)})`; the area is average precision.

    `y_true` holds 0 and 1 (or any two values, the greater one being positive) and `y_score` one score each; or class
    numbers and a score per class, which gives one curve per class.
    """

    name = "pr"

    def _defined(self, positives: int, total: int) -> bool:
        return positives > 0

    def _computed(self, truth: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats, Floats, float]:
        import numpy as np

        hits, misses, thresholds = _cumulative(truth, scores)
        precision = np.concatenate(([1.0], hits / (hits + misses)))
        recall = np.concatenate(([0.0], hits / hits[-1]))
        area = float((np.diff(recall) * precision[1:]).sum())
        return recall, precision, np.concatenate(([np.inf], thresholds)), area


class ROCCurve(_Curve):
    """True over false positive rate: `run.log({"roc": stepscope.ROCCurve(y_true, y_score)})`; input as for PRCurve."""

    name = "roc"

    def _defined(self, positives: int, total: int) -> bool:
        return 0 < positives < total

    def _computed(self, truth: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats, Floats, float]:
        import numpy as np

        hits, misses, thresholds = _cumulative(truth, scores)
        x = np.concatenate(([0.0], misses / misses[-1]))
        y = np.concatenate(([0.0], hits / hits[-1]))
        area = float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())
        return x, y, np.concatenate(([np.inf], thresholds)), area


def _cumulative(truth: NDArray[np.bool_], scores: Floats) -> Counted:
    """True and false positives at each distinct score, from the highest down."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")
    scores, truth = scores[order], truth[order]
    ends = np.append(np.nonzero(np.diff(scores))[0], len(scores) - 1)
    hits = np.cumsum(truth, dtype=np.float64)[ends]
    return hits, 1.0 + ends - hits, scores[ends]


def thinned(x: Floats, y: Floats, limit: int = MAX_POINTS) -> NDArray[np.intp]:
    """Indices of at most `limit` points that preserve the shape: ends and extremes of equally long intervals.

    Collinear points are removed first, without loss. Intervals have equal arc length, not equal x, because a
    good ROC curve rises almost entirely at x = 0.
    """
    import numpy as np

    dx, dy = np.diff(x), np.diff(y)
    bend = np.ones(len(x), bool)
    bend[1:-1] = np.abs(dx[:-1] * dy[1:] - dx[1:] * dy[:-1]) > 1e-15
    kept = np.nonzero(bend)[0]
    if len(kept) <= limit:
        return kept
    length = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(x[kept])) + np.abs(np.diff(y[kept])))))
    stretch = np.minimum((length / length[-1] * (limit // 4)).astype(np.intp), limit // 4 - 1)
    starts = np.nonzero(np.diff(stretch, prepend=-1))[0]
    ends = np.append(starts[1:], len(kept)) - 1
    by_height = np.lexsort((y[kept], stretch))
    chosen: NDArray[np.intp] = kept[np.unique(np.concatenate((starts, ends, by_height[starts], by_height[ends])))]
    return chosen


def _one_against_rest(
    y_true: Any, y_score: Any, labels: Sequence[str] | None
) -> list[tuple[str, NDArray[np.bool_], Floats]]:
    import numpy as np

    scores = to_float64(numbers(y_score, "y_score"))
    if np.isnan(scores).any():
        raise UsageError(f"y_score holds {int(np.isnan(scores).sum())} NaN; a curve needs a score for every sample")
    truth = class_values(y_true, "y_true")
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim not in (1, 2) or len(scores) != len(truth):
        raise UsageError(
            f"y_score has shape {scores.shape} for {len(truth)} samples; expected ({len(truth)},) or "
            f"({len(truth)}, classes)"
        )
    if scores.ndim == 1:
        return [_binary(truth, scores, labels)]
    classes = scores.shape[1]
    if classes > MAX_CLASSES:
        raise UsageError(f"{classes} classes are more than the maximum of {MAX_CLASSES} curves; pick some columns")
    if truth.dtype.kind not in "iu":
        truth = _positions(truth, labels)
    if truth.min() < 0 or truth.max() >= classes:
        raise UsageError(
            f"y_true holds classes from {truth.min()} to {truth.max()}, but y_score has {classes} columns; "
            f"expected classes from 0 to {classes - 1}"
        )
    names = class_names(labels, classes)
    if classes == 2:
        return [(names[1], truth == 1, scores[:, 1])]
    return [(names[number], truth == number, scores[:, number]) for number in range(classes)]


def _positions(truth: NDArray[Any], labels: Sequence[str] | None) -> NDArray[np.int64]:
    """Names of classes as their positions among the labels."""
    import numpy as np

    if labels is None:
        raise UsageError("y_true holds names, so labels= must name the columns of y_score, in order")
    position = {str(label): number for number, label in enumerate(labels)}
    unknown = sorted({str(value) for value in truth} - position.keys())
    if unknown:
        raise UsageError(f"y_true has {', '.join(unknown[:5])}, which labels= does not name; add them to labels=")
    return np.array([position[str(value)] for value in truth])


def _binary(truth: NDArray[Any], scores: Floats, labels: Sequence[str] | None) -> tuple[str, NDArray[np.bool_], Floats]:
    import numpy as np

    values = np.unique(truth)
    if len(values) > 2:
        raise UsageError(
            f"y_true holds {len(values)} different classes but y_score one score per sample; expected two classes, "
            "or a column of scores for each"
        )
    if len(values) == 1 and truth.dtype.kind in "iu" and values[0] in (-1, 0):
        positive = np.zeros(len(truth), bool)  # only negatives in this batch
    else:
        positive = truth == values[-1]
    if labels is None:
        return "1" if truth.dtype.kind in "iu" else str(values[-1]), positive, scores
    if len(labels) not in (1, 2):
        raise UsageError(f"{len(labels)} labels for a curve of two classes; give the positive one's name, or both")
    return str(labels[-1]), positive, scores
