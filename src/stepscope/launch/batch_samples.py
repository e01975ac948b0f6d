"""How many samples a batch holds, whatever shape its loader gives it."""

from __future__ import annotations

from typing import Any

__all__ = ["samples_in"]


def samples_in(batch: Any) -> int:
    """How many samples a batch holds, by the first dimension of its first tensor; 0 when there is none.

    Samples that were not stacked are counted: in columns (`tuple(zip(*samples))`, usual in detection) or in a list.

    >>> import torch
    >>> samples_in({"x": torch.zeros(8, 3)}), samples_in([torch.zeros(4, 2)]), samples_in("text"), samples_in([1, 2])
    (8, 4, 0, 0)
    >>> samples = [(torch.zeros(3, 9, 9), {"boxes": torch.zeros(2, 4)}) for _ in range(5)]
    >>> samples_in(tuple(zip(*samples))), samples_in(samples), samples_in([[torch.zeros(6), torch.zeros(6, 2)]])
    (5, 5, 6)
    >>> lengths = [torch.zeros(2), torch.zeros(7), torch.zeros(4)]
    >>> samples_in((lengths, torch.zeros(3))), samples_in([{"x": torch.zeros(6, 2)}, {"x": torch.zeros(6, 2)}])
    (3, 6)
    """
    for _ in range(4):
        if type(batch) in (list, tuple) and batch:  # what most loaders give
            if type(batch[0]) in (list, tuple, dict) and (unstacked := _unstacked(batch)):
                return unstacked
            batch = batch[0]
        elif hasattr(batch, "shape"):
            return int(batch.shape[0]) if len(batch.shape) else 0
        elif isinstance(batch, dict) or hasattr(batch, "values"):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, list | tuple) and batch:
            batch = batch[0]
        else:
            return 0
    return 0


def _unstacked(batch: Any) -> int:
    """The samples of a batch that is a list of them, or a list of columns; 0 where its tensors are stacked."""
    first, parts = batch[0], [_values(one) for one in batch]
    sizes = {_size(value) for one in parts for value in one}
    if len(batch) < 2 or not first or (len(sizes) == 1 and None not in sizes):
        return 0
    if type(first) is dict:
        return len(batch) if all(type(one) is dict and one.keys() == first.keys() for one in batch) else 0
    if not all((len(one) if type(one) in (list, tuple) else _size(one)) == len(first) for one in batch):
        return 0
    kinds = [{(type(value), getattr(value, "ndim", None)) for value in one} for one in parts]
    if any(len(one) > 1 for one in kinds):  # a picture and its target
        return len(batch)
    return len(first) if kinds[0] != kinds[1] else max(len(batch), len(first))


def _values(one: Any) -> list[Any]:
    return list(one.values()) if type(one) is dict else list(one) if type(one) in (list, tuple) else [one]


def _size(value: Any) -> int | None:
    shape = getattr(value, "shape", None)
    return int(shape[0]) if shape else None
