"""The frames of a traceback, innermost last: whose they are, what they were running, and what their names held.

Frames of a crash are still alive, so their variables can be looked at. Looking never calls the user's code: names and
attributes are read from dictionaries, never through properties or `__getattr__` of an unknown class.
"""

from __future__ import annotations

import ast
import builtins
from functools import cached_property
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any

import torch

from stepscope.diagnose.crash.syntax import running_node
from stepscope.record.sites import site_at
from stepscope.record.watch.places import is_own
from stepscope.records.step import Site

__all__ = ["MISSING", "Frame", "attribute", "code_of", "frames_of", "held_by"]

MISSING: Any = object()
_HIDDEN = ("torch/overrides.py", "torch/utils/_contextlib.py", "torch/_compile.py")
_FIRST, _LAST = 40, 160  # of a RecursionError's thousand frames these tell enough


class Frame:
    """One frame of the traceback."""

    def __init__(self, frame: FrameType, lasti: int, line: int) -> None:
        self.code = frame.f_code
        self.lasti = lasti
        self.line = line
        self.locals: dict[str, Any] = frame.f_locals
        self.globals: dict[str, Any] = frame.f_globals
        self.own = is_own(self.code)

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def function(self) -> str:
        return self.code.co_name

    @cached_property
    def site(self) -> Site:
        return site_at((self.code, self.lasti))

    @cached_property
    def running(self) -> ast.AST | None:
        """The sub-expression that raised or made the next call."""
        return running_node(self.code, self.lasti, self.line)

    def parameter(self, position: int) -> Any:
        """The value of the function's argument at a position (0 is `self` in a method)."""
        names = self.code.co_varnames[: self.code.co_argcount]
        return self.locals.get(names[position], MISSING) if position < len(names) else MISSING

    @property
    def module(self) -> torch.nn.Module | None:
        """The layer whose method this is."""
        owner = self.parameter(0)
        return owner if isinstance(owner, torch.nn.Module) else None

    def value_of(self, node: ast.AST | None) -> Any:
        """What an expression stands for, where it can be told by looking; MISSING where it would have to run."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            for names in (self.locals, self.globals, vars(builtins)):
                if node.id in names:
                    return names[node.id]
            return MISSING
        if isinstance(node, ast.Attribute):
            owner = self.value_of(node.value)
            return MISSING if owner is MISSING else attribute(owner, node.attr)
        if isinstance(node, ast.Subscript):
            return _item(self.value_of(node.value), self.value_of(node.slice))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value_of(node.operand)
            return -value if isinstance(value, (int, float)) else MISSING
        return MISSING


def attribute(owner: Any, name: str) -> Any:
    """An attribute, read without running anybody's code."""
    if isinstance(owner, torch.nn.Module):
        for kind in ("_modules", "_parameters", "_buffers"):
            found = owner.__dict__.get(kind) or {}
            if name in found:
                return found[name]
    if isinstance(owner, torch.Tensor) and name in ("shape", "grad", "dtype", "data"):
        return getattr(owner, name)
    usual: Any = object.__getattribute__
    if isinstance(owner, (ModuleType, torch.nn.Module)) or type(owner).__getattribute__ is usual:
        return getattr(owner, "__dict__", {}).get(name, MISSING)
    return MISSING


def held_by(owner: Any) -> dict[str, Any]:
    """An object's own attributes, whatever its class does when asked for one."""
    try:
        found = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def code_of(value: Any) -> CodeType | None:
    """The code of a plain function or method; None for anything else that can be called."""
    plain = value.__func__ if isinstance(value, MethodType) else value
    return plain.__code__ if isinstance(plain, FunctionType) else None


def _item(owner: Any, key: Any) -> Any:
    if type(owner) in (list, tuple, dict, torch.Size) and type(key) in (int, str):
        try:
            return owner[key]
        except (LookupError, TypeError):
            return MISSING
    return MISSING


def frames_of(trace: TracebackType | None) -> list[Frame]:
    """The frames, outermost first, without torch's plumbing and ours."""
    links: list[TracebackType] = []
    while trace is not None:
        links.append(trace)
        trace = trace.tb_next
    if len(links) > _FIRST + _LAST:
        links = links[:_FIRST] + links[-_LAST:]
    return [Frame(link.tb_frame, link.tb_lasti, link.tb_lineno) for link in links if not _is_hidden(link.tb_frame)]


def _is_hidden(frame: FrameType) -> bool:
    file = frame.f_code.co_filename.replace("\\", "/")
    # Launchers, watchers and modes of ours stand between the user's frames; they are nobody's business.
    return frame.f_globals.get("__name__", "").startswith("stepscope.") or file.endswith(_HIDDEN)
