"""Whose file a function is in: ours, theirs, or a library's that anybody may call."""

from __future__ import annotations

import os
import sysconfig

__all__ = ["LIBRARY", "OURS", "THEIRS", "kind_of"]

OURS, THEIRS, LIBRARY = range(3)
_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARIES = tuple(
    os.path.join(sysconfig.get_paths()[name], "") for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_TORCH = os.sep + "torch" + os.sep


def kind_of(file: str) -> int:
    """Theirs are the user's own files, and torch's, which call the user's.

    >>> kind_of(__file__) == OURS, kind_of("/home/me/train.py") == THEIRS, kind_of(os.__file__) == LIBRARY
    (True, True, True)
    """
    if file.startswith(_HERE):
        return OURS
    return LIBRARY if file.startswith((*_LIBRARIES, "<frozen")) and _TORCH not in file else THEIRS
