"""Numbers that a line computes from names: `i + 1`, `len(rows) - 1`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.evidence.frame_values import Held, HeldItems, HeldTensor

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def whole_number(frame: Frame, node: ast.AST) -> int | None:
    """The value of an expression of whole numbers; None where it would have to run."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = whole_number(frame, node.left), whole_number(frame, node.right)
        if left is None or right is None or (right == 0 and isinstance(node.op, (ast.FloorDiv, ast.Mod))):
            return None
        return int(_OPERATORS[type(node.op)](left, right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        return length_of(frame.value_of(node.args[0]))
    value = frame.value_of(node)
    return value if type(value) is int else None


def length_of(value: Any) -> int | None:
    """What `len()` gives of it."""
    if value is MISSING:
        return None
    if isinstance(value, HeldItems):
        return value.length
    if isinstance(value, (Held, HeldTensor)):
        return value.shape[0] if value.shape else None
    return len(value) if isinstance(value, (str, tuple)) else None
