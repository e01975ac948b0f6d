"""Finds functions of the script that are given tensors, models or loaders and whose code never reads them."""

from __future__ import annotations

import dis
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.evidence.ignored_arguments import IgnoredArgument, IgnoredArguments
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own, locals_of
from stepscope.record.sites import place_at

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["IgnoredArgumentObserver", "ignored_names"]

_MOST = 40
_FRAMES = 60
_LOCAL = ("FAST", "DEREF", "CLOSURE", "CLASSDEREF")
_DATA = ("tensor", "array", "numbers")


class IgnoredArgumentObserver(Observer, IgnoredArguments):
    def __init__(self, watcher: Watcher) -> None:
        IgnoredArguments.__init__(self)
        super().__init__(watcher)
        self._places: set[Place] = set()
        self._codes: set[CodeType] = set()

    def op(self, call: Call) -> None:
        """At a line that has not run before: look at the functions it is in that have not been looked at."""
        if call.place is None or call.place in self._places or len(self.all) >= _MOST:
            return
        self._places.add(call.place)
        frame: FrameType | None = sys._getframe(1)
        for _ in range(_FRAMES):
            if frame is None:
                return
            code = frame.f_code
            if code not in self._codes and is_own(code):
                self._codes.add(code)
                self._look(frame, code)
            frame = frame.f_back

    def _look(self, frame: FrameType, code: CodeType) -> None:
        ignored = ignored_names(code)
        caller = _caller(frame)
        if not ignored or caller is None:
            return
        given = locals_of(frame)
        others = sum(_kind(given.get(name)) in _DATA for name in _arguments(code) if name not in ignored)
        for name in ignored:
            kind = _kind(given.get(name))
            outside = {} if kind is None else _outside(code, given, frame.f_globals)
            if kind is None or any(value is given[name] for value in outside.values()):
                continue  # it is read under another name
            instead = next((other for other, value in outside.items() if _kind(value) == kind), "")
            shape = tuple(getattr(given[name], "shape", ()))
            here = place_at(code, frame.f_lasti)
            self.all.append(IgnoredArgument(here, name, kind, caller, shape, others, instead))


def ignored_names(code: CodeType) -> list[str]:
    """The arguments that no instruction of a function reads; none for what is no ordinary function."""
    if code.co_name.startswith(("<", "__")) or code.co_name == "backward":
        return []
    arguments = [name for name in _arguments(code) if not name.startswith("_")]
    if not arguments:
        return []
    read: set[str] = set()
    for one in dis.get_instructions(code):
        if one.opname.startswith(("LOAD", "DELETE", "STORE_FAST_LOAD")) and any(kind in one.opname for kind in _LOCAL):
            names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
            read.update(name for name in names if isinstance(name, str))
    return [name for name in arguments if name not in read]


def _arguments(code: CodeType) -> tuple[str, ...]:
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names[1:] if names[:1] in (("self",), ("cls",)) else names


def _caller(frame: FrameType) -> Place | None:
    """Where the script itself called the function: what torch calls has the arguments torch wants it to have. The
    forward of a module is called through torch."""
    back = frame.f_back
    if frame.f_code.co_name == "forward":
        while back is not None and not is_own(back.f_code):
            back = back.f_back
    return place_at(back.f_code, back.f_lasti) if back is not None and is_own(back.f_code) else None


def _kind(value: Any) -> str | None:
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, torch.nn.Module):
        return "model"
    if isinstance(value, torch.utils.data.DataLoader):
        return "loader"
    if isinstance(value, torch.optim.Optimizer):
        return "optimizer"
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return "array"
    if type(value) in (list, tuple) and len(value) > 1 and isinstance(value[0], (int, float, torch.Tensor)):
        return "numbers"
    return None


def _outside(code: CodeType, given: Mapping[str, Any], module: Mapping[str, Any]) -> dict[str, Any]:
    """The variables from outside that a function reads."""
    names = [one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    found = {name: module[name] for name in names if name in module}
    return found | {name: given[name] for name in code.co_freevars if name in given}
