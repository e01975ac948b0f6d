"""Compares the numbers that datasets give to words and classes: those of the training with those of the evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stepscope.evidence.dataset_numberings import DatasetNumberings, TwoNumberings
from stepscope.record.observers.datasets import base_of
from stepscope.record.observers.loader_output import LiveDelivery
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["DatasetNumberingObserver"]

_LOADERS = 8
_ATTRIBUTES, _LARGEST = 40, 200_000
_TEXT = 40
_RESERVED, _MANY = 4, 10


class DatasetNumberingObserver(Observer, DatasetNumberings):
    def __init__(self, watcher: Watcher) -> None:
        DatasetNumberings.__init__(self)
        super().__init__(watcher)

    def experiment(self) -> None:
        deliveries = [one for one in self.watcher.loader_output.all if isinstance(one, LiveDelivery)][:_LOADERS]
        trained = [one for one in deliveries if one.loader.is_training]
        for other in deliveries:
            for one in trained:
                if not other.loader.is_training and one._dataset is not None and other._dataset is not None:
                    self._compare(one, other)

    def _compare(self, trained: LiveDelivery, other: LiveDelivery) -> None:
        one, two = base_of(trained._dataset), base_of(other._dataset)
        if one is two or type(one) is not type(two):
            return
        there = dict(_numberings(two))
        for name, numbers in _numberings(one):
            again = there.get(name)
            if again is None or again is numbers:
                continue
            common = [word for word in numbers if word in again]
            moved = [word for word in common if numbers[word] != again[word]]
            if moved:
                example = (moved[0][:_TEXT], numbers[moved[0]], again[moved[0]])
                self.all.append(TwoNumberings(trained.loader, other.loader, name, len(common), len(moved), example))


def _numberings(holder: Any, before: str = "", depth: int = 1) -> Iterator[tuple[str, dict[str, int]]]:
    """Dicts from text to numbers, among the attributes of an object and of the objects it holds."""
    for name, value in list(getattr(holder, "__dict__", {}).items())[:_ATTRIBUTES]:
        if type(value) is dict:
            if _is_numbering(value):
                yield before + name, value
        elif depth and hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
            yield from _numberings(value, f"{before}{name}.", depth - 1)


def _is_numbering(found: dict[Any, Any]) -> bool:
    """Names with a number each, one after the other from about 0: ids, not counts."""
    if not 2 <= len(found) <= _LARGEST or not all(type(key) is str for key in found):
        return False
    numbers = list(found.values())
    if not all(type(number) is int for number in numbers) or len(set(numbers)) < len(numbers):
        return False
    gaps = max(numbers) - min(numbers) + 1 - len(numbers)
    is_dense: bool = gaps <= (_RESERVED if len(numbers) >= _MANY else 0)
    return is_dense and 0 <= min(numbers) <= _RESERVED
