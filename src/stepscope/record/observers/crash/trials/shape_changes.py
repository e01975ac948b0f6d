"""Changes of one tensor in the failing expression after which its shape or dtype may fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.syntax import said

if TYPE_CHECKING:
    from stepscope.record.observers.crash.trials.candidates import Scene

Found = tuple[ast.AST, str, str, bool, str]
"""The expression, what replaces it, the kind of change, whether it is sure if it runs, and why."""
_CLASSIFIED = ("cross_entropy", "nll_loss")


def shape_changes(scene: Scene) -> Iterator[Found]:
    """The expression, what replaces it, and the kind of change; the most usual first."""
    if isinstance(scene.error, (RuntimeError, ValueError, IndexError)) and not isinstance(scene.error, RecursionError):
        yield from _whole_batch(scene)
        yield from _read_sizes(scene)
        yield from _layer_axes(scene)
        yield from _sequence_loss(scene)
        yield from _same_form(scene)
        yield from _axis_numbers(scene)
        for node, value in _tensors(scene):
            yield from _of_tensor(node, value)
    if isinstance(scene.error, (RuntimeError, TypeError, IndexError, ValueError)):
        for node, value in _tensors(scene):
            yield from _of_dtype(node, value)


def _operands(node: ast.AST) -> Iterator[ast.expr]:
    """What an expression works on: arguments, both sides, the object of a method; also inside a list."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        for one in (*node.args, *(word.value for word in node.keywords)):
            yield from (one.elts if isinstance(one, (ast.List, ast.Tuple)) else [one])
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Subscript):
        yield from (node.value, node.slice)
    elif isinstance(node, (ast.AugAssign, ast.Assign)):
        yield node.value


def _tensors(scene: Scene) -> Iterator[tuple[ast.expr, torch.Tensor]]:
    for node in _operands(scene.node):
        value: Any = scene.value(node)
        if isinstance(value, torch.Tensor):
            yield node, value


def _of_tensor(node: ast.expr, value: torch.Tensor) -> Iterator[Found]:
    text, axes = said(node, 400), value.dim()
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        text = f"({text})"
    if axes >= 2:
        yield node, f"{text}.transpose(-2, -1)", "shape", False, ""
    if axes == 3:
        yield node, f"{text}.transpose(0, 1)", "shape", False, ""
    if axes == 4:
        yield node, f"{text}.permute(0, 3, 1, 2)", "shape", False, ""
        yield node, f"{text}.transpose(1, 2)", "shape", False, ""
    for axis, size in enumerate(value.shape):
        if size == 1:
            yield node, f"{text}.squeeze({axis})", "shape", False, ""
    for axis in range(axes, -1, -1):
        yield node, f"{text}.unsqueeze({axis})", "shape", False, ""
    if axes > 2:
        yield node, f"{text}.flatten(1)", "shape", False, ""


def _same_form(scene: Scene) -> Iterator[Found]:
    """Two tensors with the same numbers in another form: `x.view_as(recon)`."""
    found = list(_tensors(scene))
    for node, value in found:
        for other, meant in found:
            if node is not other and value.numel() == meant.numel() and _sizes(value) != _sizes(meant):
                sure = value.shape[:1] == meant.shape[:1] and value.dim() != meant.dim() and value.dim() != 1
                because = f"`{said(node)}` is {list(value.shape)} and `{said(other)}` {list(meant.shape)}"
                because += ": the same numbers in another form"
                yield node, f"{said(node, 400)}.reshape({said(other, 400)}.shape)", "form", sure, because


def _sizes(value: torch.Tensor) -> list[int]:
    """Without axes of size 1, which are a matter of `squeeze`."""
    return [size for size in value.shape if size != 1]


def _sequence_loss(scene: Scene) -> Iterator[Found]:
    """Scores of every step with a class each: the classes belong on axis 1."""
    call = scene.node
    if not isinstance(call, ast.Call) or len(call.args) < 2:
        return
    scores, target = scene.value(call.args[0]), scene.value(call.args[1])
    if isinstance(scores, torch.Tensor) and isinstance(target, torch.Tensor):
        classes = not target.is_floating_point() and scores.dim() == 3 and scores.shape[:2] == target.shape
        if classes:
            yield call.args[0], f"{said(call.args[0], 400)}.transpose(1, 2)", "class axis", True, ""


def _axis_numbers(scene: Scene) -> Iterator[Found]:
    """Another number for `dim=`."""
    if not isinstance(scene.node, ast.Call):
        return
    for word in scene.node.keywords:
        value = scene.value(word.value)
        if word.arg in ("dim", "axis") and type(value) is int:
            for other in (1, -1, 0, 2):
                if other != value:
                    yield word.value, str(other), "axis", False, ""


def _of_dtype(node: ast.expr, value: torch.Tensor) -> Iterator[Found]:
    text = said(node, 400)
    casts = ["float"] if value.dtype not in (torch.float32,) else []
    casts += ["long"] if value.dtype is not torch.int64 else []
    casts += ["bool"] if value.dtype is not torch.bool else []
    for cast in casts:
        yield node, f"{text}.{cast}()", "dtype", False, ""


def _whole_batch(scene: Scene) -> Iterator[Found]:
    """`permute` as for one sample, of a whole batch."""
    call = scene.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "permute":
        return
    axes = [scene.value(one) for one in call.args]
    are_axes = all(type(axis) is int for axis in axes) and sorted(axes) == list(range(len(axes)))
    if are_axes and "number of dimensions" in str(scene.error):
        new = f"{said(call.func, 400)}({', '.join(str(axis) for axis in [0, *(one + 1 for one in axes)])})"
        yield call, new, "read size", True, "these are the axes of one sample, and the batch has one more before them"


def _read_sizes(scene: Scene) -> Iterator[Found]:
    """`x.size(0)` where another axis is meant."""
    for node in ast.walk(scene.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
            owner, axis = scene.value(node.func.value), scene.value(node.args[0]) if node.args else None
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            owner, axis = scene.value(node.value.value), scene.value(node.slice)
        else:
            continue
        if not isinstance(owner, torch.Tensor) or type(axis) is not int:
            continue
        for other in range(owner.dim()):
            if other != axis % max(owner.dim(), 1) and owner.shape[other] != owner.shape[axis]:
                text = said(node, 400)
                start = text[: text.rindex("(" if text.endswith(")") else "[") + 1]
                new = f"{start}{other}{text[-1]}"
                because = f"`{text}` is {owner.shape[axis]}; axis {other} has the {owner.shape[other]} that are needed"
                yield node, new, "read size", True, because


def _layer_axes(scene: Scene) -> Iterator[Found]:
    """A layer that wants its channels on axis 1, given sequences with the channels last, which go on so afterwards."""
    call = scene.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return
    layer, given = scene.value(call.func), scene.value(call.args[0])
    if isinstance(layer, torch.nn.Module) and isinstance(given, torch.Tensor) and given.dim() == 3:
        text = f"{said(call.func, 400)}({said(call.args[0], 400)}.transpose(1, 2)).transpose(1, 2)"
        because = (
            f"`{said(call.func)}` expects [batch, channels, time], and `{said(call.args[0])}` is {list(given.shape)}"
        )
        yield call, text, "layer axes", True, because
