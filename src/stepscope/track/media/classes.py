"""Inputs of a classification: true classes, scores, names. Shared by curves and confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.track.media.arrays import is_tensor, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def class_values(values: Any, what: str) -> NDArray[Any]:
    """A flat array of class numbers, booleans or names."""
    import numpy as np

    if is_tensor(values):
        array = numbers(values, what)
    else:
        try:
            array = np.array(values)
        except ValueError as fault:
            raise UsageError(f"{what} cannot be read as a list of classes: {fault}; give numbers or names") from None
        if array.dtype.kind == "O":
            array = np.array([str(value) for value in array.reshape(-1)])
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise UsageError(f"{what} has shape {array.shape}; expected one class per sample, a flat list")
    if array.size == 0:
        raise UsageError(f"{what} is empty; log it only when there are samples")
    if array.dtype.kind == "f":
        if not (np.isfinite(array).all() and (array == np.rint(array)).all()):
            raise UsageError(f"{what} holds fractions or NaN; expected class numbers such as 0, 1, 2, or names")
        array = array.astype(np.int64)
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def class_names(labels: Sequence[Any] | None, classes: int) -> list[str]:
    if labels is None:
        return [str(number) for number in range(classes)]
    names = [str(label) for label in labels]
    if len(names) != classes:
        raise UsageError(f"{len(names)} labels for {classes} classes: {', '.join(names[:10])}; give one name per class")
    return names
