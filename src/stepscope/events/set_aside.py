"""What a large package leaves when it is imported is kept out of the garbage collector's way.

Importing torch leaves 170,000 objects, and Stepscope's come on top. Every full collection looks through all of them for
100 ms: in the script's loop, because Stepscope's objects bring one about, and twice when Python ends.

Only what was made during the import is set aside. Objects of the script stay with the collector: it must find their
garbage, and a script may ask it who refers to what.
"""

from __future__ import annotations

import gc
import threading

from stepscope.extension import load

LARGE = frozenset(("torch",))
_MOST_BEFORE = 1_000_000
"""Where there are more objects already, nothing is set aside: going through them would take as long as it saves."""

_compiled = load("stepscope.events._set_aside", 1)


class Import:
    """Made before a package is imported; `set_aside` afterwards."""

    def __init__(self) -> None:
        self._before = gc.get_objects() if _compiled is not None and _is_alone() else []
        if len(self._before) > _MOST_BEFORE:
            self._before = []

    def set_aside(self) -> bool:
        """Everything that was made since. False where that is not possible."""
        before, self._before = self._before, []
        if _compiled is None or not before:
            return False
        gc.freeze()
        _compiled.thaw(before)
        return True


def _is_alone() -> bool:
    """Whether no other thread of the script could make objects meanwhile."""
    return all(one is threading.main_thread() or one.name.startswith("stepscope") for one in threading.enumerate())
