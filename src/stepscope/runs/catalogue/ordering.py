"""The order of runs in a table: numbers by value, text in natural order, missing values last."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_LONGEST = 200
"""Number of characters of a long text that are compared."""
_NUMBERS = re.compile("([0-9]+)")


def natural_key(text: str) -> tuple[list[str | int], str]:
    """A case-insensitive sort key by which `run-2` comes before `run-10`.

    >>> sorted(["run-10", "Run-2", "a"], key=natural_key)
    ['a', 'Run-2', 'run-10']
    """
    text = text[:_LONGEST].lower()
    pieces: list[str | int] = _NUMBERS.split(text)  # alternate text and numbers, so that only like types are compared
    pieces[1::2] = map(int, pieces[1::2])
    return pieces, text


def ordered(items: Iterable[T], value: Callable[[T], Any], descending: bool = False) -> list[T]:
    """The items sorted by `value`, stable; None and NaN come last in either direction."""
    present: list[tuple[Any, T]] = []
    missing: list[T] = []
    for item in items:
        key = _sort_key(value(item))
        if key is None:
            missing.append(item)
        else:
            present.append((key, item))
    present.sort(key=lambda pair: pair[0], reverse=descending)
    return [item for _, item in present] + missing


def grouped(items: Iterable[T], value: Callable[[T], Any]) -> list[tuple[Any, list[T]]]:
    """The items grouped by a value, groups ascending, those without a value last."""
    groups: dict[Any, tuple[Any, list[T]]] = {}
    for item in items:
        found = value(item)
        if isinstance(found, list):
            found = ", ".join(map(str, found)) or None
        key = _sort_key(found)
        mark = (type(key).__name__, str(key))
        groups.setdefault(mark, (None if key is None else found, []))[1].append(item)
    return ordered(groups.values(), lambda group: group[0])


def _sort_key(value: Any) -> tuple[int, Any] | None:
    """Numbers and booleans before text; values of different kinds are never compared."""
    if value is None or value != value:
        return None
    if isinstance(value, (int, float)):
        return 0, value
    if isinstance(value, (list, tuple)):
        return (1, natural_key(", ".join(map(str, value)))) if value else None
    return 1, natural_key(str(value))
