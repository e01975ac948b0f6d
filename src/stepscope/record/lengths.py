"""How long a dataset, a loader or a sampler says it is."""

from __future__ import annotations

from typing import Any


def known_length(thing: Any) -> int | None:
    """Its length; None of what has none, such as a stream.

    >>> known_length([1, 2]), known_length(iter([1, 2]))
    (2, None)
    """
    try:
        return len(thing)
    except (TypeError, NotImplementedError):
        return None
