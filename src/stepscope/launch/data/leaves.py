"""The parts of a sample or a batch, each with the way to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

_DEEPEST = 5
_MOST = 64


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Everything that is not a container, in order, at most a few dozen.

    >>> list(leaves(({"image": 1, "size": [2, 3]}, "cat")))
    [('[0].image', 1), ('[0].size[0]', 2), ('[0].size[1]', 3), ('[1]', 'cat')]
    """
    inner = _inside(value) if depth < _DEEPEST else None
    if inner is None:
        yield path, value
        return
    for count, (name, part) in enumerate(inner):
        if count >= _MOST:
            return
        yield from leaves(part, f"{path}{name}" if path or name.startswith("[") else name[1:], depth + 1)


def _inside(value: Any) -> list[tuple[str, Any]] | None:
    if isinstance(value, Mapping) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        return [(f".{key}", value[key]) for key in value.keys()]  # noqa: SIM118
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", part) for name, part in zip(value._fields, value, strict=True)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f".{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) or (isinstance(value, list) and not _is_numbers(value)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    return None


def _is_numbers(value: list[Any]) -> bool:
    """A list of plain numbers or words is one thing: token ids, names of a batch."""
    return len(value) > 4 and all(isinstance(part, int | float | str | bytes) for part in value)
