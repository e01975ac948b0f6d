"""Warnings name the line they would name without us, though functions of ours stand between the user's and torch's.

Python attributes a warning to the frame a number of levels above. The same number is counted here over the frames that
would be there without us, and "once for each place" is counted in the registry of the module found, as Python does.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from stepscope import fence
from stepscope.events.installed import Installed

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_DOOR = os.path.join("torch", "overrides.py")
_MODULES, _PATCHES = (os.path.join(_OURS, "events", name) for name in ("modules.py", "patches.py"))
_PLACED = "_stepscope_placed"


def place_warnings(installed: Installed) -> None:
    """Stand where all warnings pass that are to be shown, those of C code too. Others that stand there are kept."""
    installed.wrap("warnings:_showwarnmsg", _placing)


def _placing(show: Any) -> Any:
    def shown(message: Any) -> None:
        if not hasattr(message, _PLACED):
            message = fence.call("placing a warning", _placed, message, sys._getframe(1))
            if message is None:
                return
        show(message)

    return shown


def _placed(message: Any, frame: Any) -> Any:
    """The warning as it is, or at the user's line; None where it has been shown there already."""
    named, frame = _where(message, frame)
    if named is frame or frame is None:
        return message
    category, text = message.category, str(message.message)
    version = _taken_from(named.f_globals, (text, category, message.lineno))
    if version is not None and _is_known(frame.f_globals, (text, category, frame.f_lineno), version):
        return None
    moved = warnings.WarningMessage(
        message.message, category, frame.f_code.co_filename, frame.f_lineno, message.file, None, message.source
    )
    setattr(moved, _PLACED, True)
    return moved


def _where(message: Any, frame: Any) -> tuple[Any, Any]:
    """The frame that a warning names, and the one it would name without us; None twice where it names none."""
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):  # of the way to here
        code, frame = frame.f_code, frame.f_back
        if code.co_name == "through" and code.co_filename == _PATCHES:
            break
    level, named, frame = 1, frame, _outward(frame)
    while named is not None and (named.f_code.co_filename != message.filename or named.f_lineno != message.lineno):
        level, named = level + 1, named.f_back
    if named is None:
        return None, None
    while frame is not None and level > 1:
        frame, level = _outward(frame.f_back, frame), level - 1
    return named, frame


def _outward(frame: Any, inner: Any = None) -> Any:
    """This frame, or the first one above it that would be there without us; `inner` is the one that it has called.

    A function of torch's that hands its call over to us does so in `torch/overrides.py`, and is called again by us: of
    the two calls one would be there. Between them is a frame of ours, or none where `operations.c` is built; under a
    mode of the script's own it is that mode's. `Module.__call__` of ours stands in for torch's own.
    """
    began = frame
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        if frame.f_code.co_filename == _MODULES and frame.f_code.co_name == "__call__":
            return frame
        frame = frame.f_back
    handed = frame is not began or (inner is not None and inner.f_code.co_name != "__torch_function__")
    if frame is not None and handed and frame.f_code.co_filename.endswith(_DOOR):
        api = frame.f_back
        return None if api is None else _outward(api.f_back)
    return frame


def _taken_from(names: dict[str, Any], key: tuple[Any, ...]) -> Any:
    """Where Python shows it once for each place: the version of the filters it was counted under, and it is forgotten
    that this was the place. None where it shows every one."""
    registry = names.get("__warningregistry__")
    if not isinstance(registry, dict) or registry.pop(key, None) is None:
        return None
    return registry.get("version", 0)


def _is_known(names: dict[str, Any], key: tuple[Any, ...], version: Any) -> bool:
    """Count it in a module's registry as Python does; whether it was there."""
    registry = names.setdefault("__warningregistry__", {})
    if registry.get("version", 0) != version:  # the filters have changed: all may be shown again
        registry.clear()
        registry["version"] = version
    known = key in registry
    registry[key] = 1
    return known
