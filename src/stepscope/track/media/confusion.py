"""Confusion matrices: how often each class was predicted as each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope.errors import UsageError
from stepscope.track.media.arrays import numbers, to_float64
from stepscope.track.media.classes import class_names, class_values
from stepscope.track.media.loggable import Encoded, harmless, one

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CLASSES = 1_000


@harmless
class ConfusionMatrix:
    """True classes down, predicted ones across: `run.log({"confusion": stepscope.ConfusionMatrix(y_true, y_pred)})`.

    Classes are numbers from 0 (named by `labels`) or names. `y_pred` may also be a score per class, of which the
    highest counts. Pass an existing matrix as `ConfusionMatrix(counts=matrix, labels=...)`.
    """

    def __init__(
        self,
        y_true: Any = None,
        y_pred: Any = None,
        labels: Sequence[Any] | None = None,
        *,
        counts: Any = None,
        caption: str | None = None,
    ) -> None:
        self.caption = caption
        if (counts is None) == (y_true is None) or (y_true is None) != (y_pred is None):
            raise UsageError("a confusion matrix needs either y_true and y_pred, or counts=")
        if counts is not None:
            self.labels, self.counts = _given(counts, labels)
        else:
            self.labels, self.counts = _counted(y_true, y_pred, labels)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        data = msgspec.json.encode({"labels": self.labels, "counts": self.counts.tolist()})
        total, right = self.counts.sum(), self.counts.trace()
        meta: dict[str, Any] = {"classes": len(self.labels), "total": total.item()}
        meta["accuracy"] = float(right / total) if total else None
        return one(
            key, step, time, kind="confusion", mime="application/json", data=data, meta=meta, caption=self.caption
        )


def _given(counts: Any, labels: Sequence[Any] | None) -> tuple[list[str], NDArray[Any]]:
    import numpy as np

    matrix = numbers(counts, "a confusion matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise UsageError(f"a confusion matrix of shape {matrix.shape}; expected as many rows as columns")
    _check_classes(len(matrix))
    if not (np.isfinite(to_float64(matrix)).all() and (matrix >= 0).all()):
        raise UsageError("the counts of a confusion matrix must be finite and non-negative")
    return class_names(labels, len(matrix)), matrix


def _counted(y_true: Any, y_pred: Any, labels: Sequence[Any] | None) -> tuple[list[str], NDArray[Any]]:
    import numpy as np

    truth = class_values(y_true, "y_true")
    shape = tuple(getattr(y_pred, "shape", ()))
    if len(shape) == 2 and shape[1] > 1:
        predicted: NDArray[Any] = numbers(y_pred, "y_pred").argmax(axis=1)
    else:
        predicted = class_values(y_pred, "y_pred")
    if len(truth) != len(predicted):
        raise UsageError(f"y_true has {len(truth)} samples and y_pred {len(predicted)}; they must have the same length")
    if truth.dtype.kind in "iu" and predicted.dtype.kind in "iu":
        names = _number_names(truth, predicted, labels)
    else:
        names, truth, predicted = _placed(truth.astype(str), predicted.astype(str), labels)
    size = len(names)
    pairs = truth.astype(np.int64) * size + predicted
    return names, np.bincount(pairs, minlength=size * size).reshape(size, size)


def _number_names(truth: NDArray[Any], predicted: NDArray[Any], labels: Sequence[Any] | None) -> list[str]:
    """The names of classes given as numbers."""
    low, high = int(min(truth.min(), predicted.min())), int(max(truth.max(), predicted.max()))
    classes = high + 1 if labels is None else len(labels)
    if low < 0 or high >= classes:
        raise UsageError(
            f"classes from {low} to {high}, but {classes} labels; expected class numbers from 0 to {classes - 1}"
        )
    _check_classes(classes)
    return class_names(labels, classes)


def _placed(
    truth: NDArray[Any], predicted: NDArray[Any], labels: Sequence[Any] | None
) -> tuple[list[str], NDArray[Any], NDArray[Any]]:
    """The names of classes given as words, and each sample's place among them."""
    import numpy as np

    found = {*truth.tolist(), *predicted.tolist()}
    names = sorted(found) if labels is None else [str(label) for label in labels]
    if found - set(names):
        raise UsageError(f"classes {', '.join(sorted(found - set(names))[:5])} are not among labels=; add them")
    _check_classes(len(names))
    place = {name: number for number, name in enumerate(names)}
    return names, np.array([place[name] for name in truth]), np.array([place[name] for name in predicted])


def _check_classes(classes: int) -> None:
    if classes > MAX_CLASSES:
        raise UsageError(f"a confusion matrix of {classes:,} classes; the maximum is {MAX_CLASSES:,}: merge some")
