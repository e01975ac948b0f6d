"""A `view` that cuts an axis into pieces of one length, where that length does not divide it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod

from stepscope.common.syntax import said
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.evidence.frame_values import HeldTensor


@dataclass(frozen=True)
class Uneven:
    """`size` values in pieces of `piece`: `rest` are left over."""

    size: int
    piece: int
    piece_text: str
    axis: int
    cut: str
    """The tensor without the rest, as an expression."""

    @property
    def rest(self) -> int:
        return self.size % self.piece


def uneven(crash: Crash) -> Uneven | None:
    found = crash.operation
    call = None if found is None else found.node
    if found is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not found.tensors:
        return None
    tensor = found.tensors[0][1]
    sizes = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], (ast.List, ast.Tuple)) else call.args
    owner = said(call.func.value, 200)
    return _of_quotient(found.frame, owner, tensor, sizes) or _of_stream(found.frame, owner, tensor, sizes)


def _of_quotient(frame: Frame, owner: str, tensor: HeldTensor, sizes: list[ast.expr]) -> Uneven | None:
    """`x.view(b, t // chunk, ...)`: the quotient is not exact."""
    for node in sizes:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
            continue
        size, piece = whole(frame, node.left), whole(frame, node.right)
        if size is None or piece is None or piece < 2 or size % piece == 0 or size not in tensor.shape:
            continue
        axis = tensor.shape.index(size)
        cut = f"{owner}[{':, ' * axis}:{said(node)} * {_factor(node.right)}]"
        return Uneven(size, piece, said(node.right), axis, cut)
    return None


def _of_stream(frame: Frame, owner: str, tensor: HeldTensor, sizes: list[ast.expr]) -> Uneven | None:
    """`stream.view(columns, -1)` of a single row of values."""
    given = [whole(frame, node) for node in sizes]
    if tensor.ndim != 1 or given.count(-1) != 1 or None in given:
        return None
    others = [node for node, value in zip(sizes, given, strict=True) if value != -1]
    piece = prod(value for value in given if value is not None and value != -1)
    size = tensor.shape[0]
    if piece < 2 or size % piece == 0 or size < piece:
        return None
    text = " * ".join(map(_factor, others))
    length = f"({text})" if len(others) > 1 else text
    return Uneven(size, piece, text, 0, f"{owner}[:len({owner}) // {length} * {length}]")


def _factor(node: ast.expr) -> str:
    return f"({said(node)})" if isinstance(node, ast.BinOp) else said(node)


def whole(frame: Frame, node: ast.expr) -> int | None:
    """The whole number an expression stands for: names, sizes of tensors and sums of them."""
    value = frame.value_of(node)
    if type(value) is int:
        return value
    if isinstance(node, ast.BinOp):
        return _arithmetic(node.op, whole(frame, node.left), whole(frame, node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size" and node.args:
        owner, axis = frame.value_of(node.func.value), whole(frame, node.args[0])
        known = isinstance(owner, HeldTensor) and axis is not None and -owner.ndim <= axis < owner.ndim
        return owner.shape[axis] if known else None
    return None


def _arithmetic(op: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    if isinstance(op, ast.FloorDiv):
        return left // right if right else None
    done = {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}
    return done.get(type(op))
