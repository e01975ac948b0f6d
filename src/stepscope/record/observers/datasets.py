"""Datasets by number, and the code of theirs that is the user's own."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

from stepscope.evidence.loaders import Dataset
from stepscope.record.observers.own_frames import is_own
from stepscope.record.sites import place_at
from stepscope.records.place import Place


class Datasets:
    """The record of each dataset, for as long as that is there."""

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[int, tuple[weakref.ref[Any], Dataset]] = {}

    def of(self, dataset: Any) -> Dataset | None:
        """None for what has no weak references (a list): another may get its address later."""
        known = self._known.get(id(dataset))
        if known is not None and known[0]() is dataset:
            return known[1]
        try:
            ref = weakref.ref(dataset)
        except TypeError:
            return None
        made = Dataset(self._count, type(dataset).__name__)
        self._count += 1
        for name in ("__getitem__", "__iter__"):
            place = beginning_of(getattr(type(base_of(dataset)), name, None))
            if place is not None:
                made.methods[name] = place
        self._known[id(dataset)] = (ref, made)
        return made


def base_of(dataset: Any) -> Any:
    """The dataset behind subsets of it."""
    for _ in range(8):
        inner = getattr(dataset, "dataset", None)
        if inner is None or not hasattr(inner, "__getitem__"):
            break
        dataset = inner
    return dataset


def beginning_of(function: Any) -> Place | None:
    """Where a function begins, if it is the user's own."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return None if code is None or not is_own(code) else place_at(code, 0)
