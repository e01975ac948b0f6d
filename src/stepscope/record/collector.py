"""Have garbage collected less often while we make many small objects that all stay.

Looking through them every 700 allocations would cost more than making them, and after a hundred times all objects of
the process are looked through, torch's own among them: 100 to 200 ms that the script would not have spent there.
"""

from __future__ import annotations

import gc
from typing import Any

_COLLECT_EVERY = 100_000


class Rested:
    """Less often within a `with` block; a threshold that the script sets meanwhile stays."""

    __slots__ = ("_before", "_ours")

    def __enter__(self) -> Rested:
        self._before = before = gc.get_threshold()
        self._ours = (max(before[0], _COLLECT_EVERY), *before[1:])
        if before[0] > 0:
            gc.set_threshold(*self._ours)
        return self

    def __exit__(self, *error: Any) -> None:
        if self._before[0] > 0 and gc.get_threshold() == self._ours:
            gc.set_threshold(*self._before)


def rest_collector() -> Any:
    """As `Rested`, from now on; what is returned ends it."""
    rested = Rested().__enter__()
    return rested.__exit__
