"""The operation that failed, and the tensors it was given."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import said
from stepscope.diagnose.crash.frames import MISSING, Frame, several
from stepscope.evidence.frame_values import HeldItems, HeldTensor

_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.MatMult: "matmul",
    ast.Pow: "pow",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.BitAnd: "and",
    ast.BitOr: "or",
}
_HELPER = "broadcast_tensors"


@dataclass(frozen=True)
class Operand:
    """One argument of the failing operation."""

    name: str
    value: Any
    """A tensor, or a list or tuple of them (`cat`), or any other argument; MISSING where it could not be read."""
    items: tuple[str, ...] = ()
    """The expressions of a list or tuple that is written out: `[a, b]`."""

    @property
    def is_plain(self) -> bool:
        """Whether it is a number or a text, or a call that gives one: `float("-inf")`."""
        return isinstance(self.value, (bool, int, float, str)) or self.name.startswith(("float(", "int(", "len("))

    @property
    def tensors(self) -> list[HeldTensor]:
        if isinstance(self.value, HeldTensor):
            return [self.value]
        return [part for part in self.parts or () if isinstance(part, HeldTensor)]

    @property
    def parts(self) -> list[Any] | None:
        """The items of a list or tuple; None for anything else."""
        if isinstance(self.value, HeldItems) and self.value.type not in ("list", "tuple"):
            return None
        return self.value if type(self.value) is list else several(self.value)


@dataclass(frozen=True)
class Operation:
    """`op(operands)` at a frame."""

    op: str
    operands: tuple[Operand, ...]
    frame: Frame
    node: ast.AST | None = None

    @property
    def tensors(self) -> list[tuple[str, HeldTensor]]:
        """All tensors among the operands, with the names they go by."""
        found: list[tuple[str, HeldTensor]] = []
        for operand in self.operands:
            if operand.parts is None:
                found += [(operand.name, tensor) for tensor in operand.tensors]
                continue
            named = operand.items if len(operand.items) == len(operand.parts) else ()
            for index, part in enumerate(operand.parts):
                if isinstance(part, HeldTensor):
                    found.append((named[index] if named else f"{operand.name}[{index}]", part))
        return found

    @property
    def written(self) -> list[str]:
        """The operands that may be tensors as they are written, those of a list one by one."""
        found = [operand for operand in self.operands if not operand.is_plain]
        return [name for operand in found for name in (operand.items or (operand.name,))]


def operation_of(frames: Sequence[Frame]) -> Operation | None:
    """What the innermost frame was computing, read off its source and its variables."""
    for index in range(len(frames) - 1, max(len(frames) - 7, -1), -1):
        found = _operation_in(frames[index])
        if found is not None and (found.tensors or frames[index].own):
            return _for_whom(frames[:index], found)
    return None


def _for_whom(outer: Sequence[Frame], found: Operation) -> Operation:
    """Losses of torch's bring their arguments to one shape first; the loss is what the user has called."""
    if found.op != _HELPER:
        return found
    caller = next((frame for frame in reversed(outer) if frame.function != _HELPER), None)
    loss = None if caller is None or caller.own else _checked(caller)
    return loss if loss is not None and loss.tensors else found


def _operation_in(frame: Frame) -> Operation | None:
    node = frame.running
    if isinstance(node, ast.Await):
        node = node.value
    if not frame.own and _is_about_its_arguments(node):
        return _checked(frame)
    if isinstance(node, ast.Call):
        return Operation(_called(node.func), tuple(arguments_of(node, frame)), frame, node)
    if isinstance(node, ast.BinOp):
        return Operation(_operator(node.op), _read(frame, node.left, node.right), frame, node)
    if isinstance(node, ast.AugAssign):
        return Operation(f"{_operator(node.op)}_", _read(frame, node.target, node.value), frame, node)
    if isinstance(node, ast.Compare):
        return Operation("compare", _read(frame, node.left, *node.comparators), frame, node)
    if isinstance(node, ast.Subscript):
        op = "setitem" if isinstance(node.ctx, ast.Store) else "getitem"
        return Operation(op, _read(frame, node.value, node.slice), frame, node)
    return None


def _is_about_its_arguments(node: ast.AST | None) -> bool:
    """Whether a function of torch's raises by itself, or hands its own call on to a watch such as ours."""
    if isinstance(node, ast.Raise):
        return True
    return isinstance(node, ast.Call) and _called(node.func).endswith(("Error", "Exception", "handle_torch_function"))


def _checked(frame: Frame) -> Operation | None:
    """A function of torch's that looked at its arguments and raised: they are the operands."""
    operands = tuple(Operand(name, frame.locals[name]) for name in frame.arguments if name in frame.locals)
    return Operation(frame.function, operands, frame, None)


def arguments_of(call: ast.Call, frame: Frame) -> list[Operand]:
    """The arguments of a call; a method's tensor comes first."""
    found = []
    if isinstance(call.func, ast.Attribute):
        owner = frame.value_of(call.func.value)
        if isinstance(owner, HeldTensor):
            found.append(Operand(said(call.func.value), owner))
    found += [_operand(frame, part) for part in call.args]
    found += [_operand(frame, part.value, f"{part.arg}=") for part in call.keywords]
    return found


def _operand(frame: Frame, node: ast.expr, before: str = "") -> Operand:
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else ()
    return Operand(before + said(node), _value(frame, node), tuple(map(said, items)))


def _read(frame: Frame, *nodes: ast.AST) -> tuple[Operand, ...]:
    return tuple(Operand(said(node), _value(frame, node)) for node in nodes)


def _value(frame: Frame, node: ast.AST) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        parts = [frame.value_of(part) for part in node.elts]
        return (
            MISSING
            if any(part is MISSING for part in parts) and not any(isinstance(part, HeldTensor) for part in parts)
            else parts
        )
    return frame.value_of(node)


def _called(function: ast.AST) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else said(function)


def _operator(op: ast.operator) -> str:
    return _OPERATORS.get(type(op), type(op).__name__.lower())
