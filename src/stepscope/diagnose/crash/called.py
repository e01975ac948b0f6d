"""The user's own function, method or `forward` behind a call."""

from __future__ import annotations

import ast

from stepscope.common.syntax import said
from stepscope.diagnose.crash.classes import function_in, own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.evidence.frame_values import Code, Held
from stepscope.evidence.modules import Module


def called_code(crash: Crash, frame: Frame, node: ast.AST) -> Code | None:
    """The user's own function, method or `forward` behind a call."""
    if not isinstance(node, ast.Call):
        return None
    called = frame.value_of(node.func)
    if isinstance(called, Module):
        seen = frame.modules.get(called)
        code = None if seen is None else seen.kind.methods.get("forward")
    elif isinstance(called, Held):
        code = called.code
    elif isinstance(node.func, ast.Attribute) and said(node.func.value) == "self":
        found = function_in(frame.file, node.func.attr)
        code = None if found is None else Code(frame.file, found.name, found.lineno, True)
    elif isinstance(node.func, ast.Attribute):
        code = _method(crash, frame.value_of(node.func.value), node.func.attr)
    else:
        code = None
    return code if code is not None and code.own else None


def _method(crash: Crash, owner: object, name: str) -> Code | None:
    """A method of an object of one of the user's classes, its own or one it inherits from another of them."""
    kinds = owner.kind.kinds if isinstance(owner, Held) else owner.kinds if isinstance(owner, Module) else ()
    for kind in kinds:
        known = own_class(crash, kind)
        method = None if known is None else known.methods.get(name)
        if known is not None and method is not None:
            return Code(known.file, method.name, method.lineno, True)
    return None
