"""Whose file a function is in: ours, theirs, or a library's that anybody may call."""

from __future__ import annotations

import os

from stepscope.common.code_owner import is_ours, is_own_file

OURS, THEIRS, LIBRARY = range(3)
_TORCH = os.sep + "torch" + os.sep


def kind_of(file: str) -> int:
    """Theirs are the user's own files, and torch's, which call the user's.

    >>> kind_of(__file__) == OURS, kind_of("/home/me/train.py") == THEIRS, kind_of(os.__file__) == LIBRARY
    (True, True, True)
    """
    if is_ours(file):
        return OURS
    if file.startswith("<"):
        return LIBRARY if file.startswith("<frozen") else THEIRS
    return THEIRS if is_own_file(file) or _TORCH in file else LIBRARY
