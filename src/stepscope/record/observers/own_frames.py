"""Whose code is running: the user's own files, apart from torch, Python, installed packages and us."""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

from stepscope.common.code_owner import OWN, is_own_file
from stepscope.record.sites import place_at, place_of
from stepscope.records.place import Place

__all__ = ["is_own", "is_own_file", "locals_of", "own_place", "own_places"]


def is_own(code: CodeType) -> bool:
    """Whether this code belongs to the project being run (and not to an installed package)."""
    return is_own_file(code.co_filename)


def locals_of(frame: FrameType) -> Mapping[str, Any]:
    """The variables of a frame, for a look: none of them lives on because of it.

    Up to Python 3.12 `f_locals` of a function is one dictionary that Python fills and keeps; it is also what `locals()`
    gave to the script. So it is emptied after the look, and a function that has called `locals()` is not looked at.
    """
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return frame.f_locals
    if sys.version_info >= (3, 13) or sys.gettrace() is not None:  # a trace function writes the dictionary back
        return dict(frame.f_locals)
    code = frame.f_code
    names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for one in gc.get_referents(frame):
        if type(one) is dict and one and one is not frame.f_globals and names.issuperset(one):
            return {}
    found = frame.f_locals
    copied = dict(found)
    found.clear()
    return copied


def own_place(frame: FrameType | None) -> Place | None:
    """The first place in the user's own files, from `frame` outwards; else in a library of theirs."""
    start, known = frame, OWN
    while frame is not None:
        code = frame.f_code
        mine = known.get(code.co_filename)
        if mine is None:
            mine = is_own(code)
        if mine:
            return place_at(code, frame.f_lasti)
        frame = frame.f_back
    spot = place_of(start)
    return None if spot is None else place_at(*spot)


def own_places(most: int = 6) -> list[Place]:
    """The user's own frames from here outwards: the innermost first."""
    found: list[Place] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < most:
        if is_own(frame.f_code):
            found.append(place_at(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return found
