"""Warnings name the line of the user's, not ours: an op that warns is called by a function of ours while it is watched.

Python puts a warning down to the frame so many levels above. Where that frame is ours, the place is moved outward to
the first one that is not, and "once for each place" is counted by that place.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import wraps
from typing import Any

from stepscope import fence
from stepscope.events import Installed

__all__ = ["place_warnings"]

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "")
_DOOR = os.path.join("torch", "overrides.py")
_MOST = 1000


def place_warnings(installed: Installed) -> None:
    """Stand where all warnings pass that are to be shown, those of C code too. Others that stand there are kept."""
    installed.wrap("warnings:_showwarnmsg", _placing)


def _placing(show: Any) -> Any:
    seen: set[tuple[str, str, str, int]] = set()

    @wraps(show)
    def shown(message: Any) -> None:
        if str(getattr(message, "filename", "")).startswith(_OURS):
            moved = fence.call("placing a warning", _moved, message, seen)
            if moved is None:
                return
            message = moved
        show(message)

    return shown


def _moved(message: Any, seen: set[tuple[str, str, str, int]]) -> Any:
    """The warning at the user's line; None where it has been shown already."""
    frame: Any = sys._getframe()
    while frame is not None and (frame.f_code.co_filename != message.filename or frame.f_lineno != message.lineno):
        frame = frame.f_back
    ours, frame = frame, _outside(frame)
    if frame is None:
        return message
    category, text = message.category, str(message.message)
    if ours is not None and _is_counted(ours.f_globals, text, category, message.lineno):
        key = (text, category.__name__, frame.f_code.co_filename, frame.f_lineno)
        if key in seen:
            return None
        if len(seen) < _MOST:
            seen.add(key)
    return warnings.WarningMessage(
        message.message, category, frame.f_code.co_filename, frame.f_lineno, message.file, None, message.source
    )


def _outside(frame: Any) -> Any:
    """The first frame above that is not ours, nor torch's on the way to us: a function that hands its call over to the
    watch does so in `torch/overrides.py`, and is called again from there."""
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.endswith(_DOOR):
        api = frame.f_back
        return None if api is None else api.f_back
    return frame


def _is_counted(names: dict[str, Any], text: str, category: type, line: int) -> bool:
    """Whether Python shows it once for each place; that it did so for a place of ours is forgotten."""
    registry = names.get("__warningregistry__")
    return isinstance(registry, dict) and registry.pop((text, category, line), None) is not None
