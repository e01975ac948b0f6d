"""Changes of plain Python that are often meant: a number for a text, an item for its container, a call too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import MethodType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.syntax import assigned_names, enclosing_function, parents_of, said

if TYPE_CHECKING:
    from stepscope.record.observers.crash.trials.candidates import Scene

Found = tuple[ast.AST, str, str, bool, str]
"""The expression, what replaces it, the kind of change, whether it is sure if it runs, and why."""
_LONG = 400


def python_changes(scene: Scene) -> Iterator[Found]:
    """The most usual first."""
    said_ = str(scene.error)
    for find in (_whole_number, _uncalled_property, _items_and_attributes, _iterators, _ranges, _spread, _header):
        yield from find(scene, said_)
    yield from _containers(scene, said_)
    yield from _index_too_many(scene)


def _whole_number(scene: Scene, told: str) -> Iterator[Found]:
    """`nn.Linear(n / 2, 4)`: a float where a count is needed."""
    if "float" not in told or ("integer" not in told and "int" not in told):
        return
    for node in ast.walk(scene.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            because = f"`{said(node)}` gives a float; `//` gives a whole number"
            yield node, f"{said(node.left, _LONG)} // {said(node.right, _LONG)}", "number", True, because
        elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and type(scene.value(node)) is float:
            because = f"`{said(node)}` is a float ({scene.value(node)}), and a whole number is needed"
            yield node, f"int({said(node, _LONG)})", "number", True, because


def _uncalled_property(scene: Scene, told: str) -> Iterator[Found]:
    """`x.shape()`: what the attribute holds is not a function. And a number where a function is needed."""
    node = scene.node
    if "is not callable" not in told or not isinstance(node, ast.Call):
        return
    if not node.args and isinstance(node.func, ast.Attribute):
        because = f"`{said(node.func)}` is a value, not a method: no parentheses"
        yield node, said(node.func, _LONG), "value", True, because
    if isinstance(node.func, (ast.Name, ast.Attribute)) and len(node.args) == 1:
        because = f"`{said(node.func)}` is taken from with square brackets"
        yield node, f"{said(node.func, _LONG)}[{said(node.args[0], _LONG)}]", "item", True, because
    for one in node.args:
        if isinstance(one, (ast.Call, ast.BinOp, ast.Constant)) and "float" in told:
            because = f"a function is needed here, and `{said(one)}` is a number"
            yield one, f"lambda step: {said(one, _LONG)}", "function", True, because


def _items_and_attributes(scene: Scene, told: str) -> Iterator[Found]:
    """`cfg.lr` of a dict, `args["lr"]` of an object."""
    node = scene.node.func if isinstance(scene.node, ast.Call) else scene.node
    if isinstance(node, ast.Attribute):
        owner = scene.value(node.value)
        if isinstance(owner, dict) and node.attr in owner:
            because = f"`{said(node.value)}` is a dict: its entries are reached by key"
            yield node, f"{said(node.value, _LONG)}[{node.attr!r}]", "item", True, because
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        owner, name = scene.value(node.value), node.slice.value
        if name.isidentifier() and not isinstance(owner, dict) and "subscriptable" in told:
            because = f"`{said(node.value)}` is an object: write `.{name}`"
            yield node, f"{said(node.value, _LONG)}.{name}", "attribute", True, because
    for one in ast.walk(scene.node):
        if isinstance(one, ast.Subscript) and isinstance(scene.value(one), MethodType):
            because = f"`{said(one)}` is a method that was not called"
            yield one, f"{said(one, _LONG)}()", "called", True, because


def _iterators(scene: Scene, told: str) -> Iterator[Found]:
    """`next(loader)` of something that is not an iterator; `len(zip(...))` of one."""
    node = scene.node
    if not isinstance(node, ast.Call) or not node.args:
        return
    text = said(node.args[0], _LONG)
    if "not an iterator" in told:
        yield node.args[0], f"iter({text})", "iterator", True, f"`{text}` has to be asked for an iterator first"
    if "has no len()" in told:
        for bound in _bound_to(scene, node.args[0]):
            because = f"`{text}` is an iterator: it has no length and can be gone through only once"
            yield bound, f"list({said(bound, _LONG)})", "listed", True, because


def _ranges(scene: Scene, told: str) -> Iterator[Found]:
    """`range(items)`, `for i in 10`."""
    for node in ast.walk(scene.node):
        is_range = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
        if is_range and "cannot be interpreted as an integer" in told:
            for one in node.args:  # type: ignore[attr-defined]
                if hasattr(type(scene.value(one)), "__len__"):
                    yield one, f"len({said(one, _LONG)})", "length", True, f"`{said(one)}` is not a number"
    loop = scene.statement
    if isinstance(loop, ast.For) and "'int' object is not iterable" in told:
        yield loop.iter, f"range({said(loop.iter, _LONG)})", "range", True, f"`{said(loop.iter)}` is a number"


def _spread(scene: Scene, told: str) -> Iterator[Found]:
    """One list or tuple where its items are arguments of their own."""
    call = scene.node
    if isinstance(call, ast.Call) and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
        value = scene.value(call.args[0])
        is_text = isinstance(call.args[0], (ast.List, ast.Tuple, ast.ListComp))
        if isinstance(value, (list, tuple)) or is_text:
            text = said(call.args[0], _LONG)
            because = f"`{said(call.func)}` takes its parts as arguments of their own, not as one list or tuple"
            words = "".join(f", {one.arg}={said(one.value, _LONG)}" for one in call.keywords if one.arg)
            yield call, f"{said(call.func, _LONG)}(*{text}{words})", "spread", True, because


def _header(scene: Scene, told: str) -> Iterator[Found]:
    """A table of numbers with a line of names above it; scores where class ids are compared."""
    call = scene.node
    if not isinstance(call, ast.Call):
        return
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("loadtxt", "genfromtxt") and "convert" in told:
        text = said(call, _LONG)
        yield call, f"{text[:-1]}, skiprows=1)", "header", True, "the first line of the file holds names, not numbers"
    if "continuous" in told and len(call.args) >= 2:
        for one in call.args[:2]:
            because = f"`{said(one)}` holds a score for each class, and class ids are needed"
            yield one, f"{said(one, _LONG)}.argmax(1)", "classes", True, because


def _containers(scene: Scene, told: str) -> Iterator[Found]:
    """A list, tuple or dict where a tensor is needed: made a tensor, or one of its parts."""
    if not isinstance(scene.error, (TypeError, AttributeError, ValueError, RuntimeError)):
        return
    for node in ast.walk(scene.node):
        if not isinstance(node, (ast.Name, ast.Attribute)) or isinstance(getattr(node, "ctx", None), ast.Store):
            continue
        value, text = scene.value(node), said(node, _LONG)
        if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size) and value:
            because = f"`{text}` is a {type(value).__name__} of {len(value)}, and a tensor is needed"
            if all(isinstance(one, (int, float, bool)) for one in value):
                yield node, f"torch.tensor({text})", "made a tensor", True, because
            if all(isinstance(one, torch.Tensor) for one in value) and len(value) > 1:
                yield node, f"torch.stack({text})", "stacked", False, because
            yield from _parts(scene, node, text, list(enumerate(value[:4])), because)
        elif isinstance(value, dict):
            keyed = [(key, one) for key, one in list(value.items())[:8] if isinstance(key, str)]
            yield from _parts(
                scene, node, text, keyed, f"`{text}` is a dict with {', '.join(map(str, list(value)[:6]))}"
            )


def _parts(scene: Scene, node: ast.expr, text: str, parts: list[Any], because: str) -> Iterator[Found]:
    import numpy

    fitting = [key for key, one in parts if isinstance(one, (torch.Tensor, numpy.ndarray))]
    bound = [] if len(fitting) != 1 or not isinstance(fitting[0], int) else _bound_to(scene, node)
    for value in bound:
        yield value, f"{said(value, _LONG)}[{fitting[0]!r}]", "one of several", True, because
    for key in fitting:
        yield node, f"{text}[{key!r}]", "one of several", len(fitting) == 1, because


def _bound_to(scene: Scene, node: ast.expr) -> list[ast.expr]:
    """The right sides that give a name its value in this function, if there is one such line above."""
    text, here = ast.unparse(node), enclosing_function(scene.file, scene.node)
    found = [
        one.value
        for one in parents_of(scene.file)
        if isinstance(one, ast.Assign)
        and one.lineno < scene.link.tb_lineno
        and any(isinstance(target, ast.Name) and text in assigned_names(target) for target in one.targets)
        and enclosing_function(scene.file, one) is here
    ]
    made: list[ast.expr] = [one for one in found if isinstance(one, (ast.Call, ast.GeneratorExp))]
    return made[-1:]


def _index_too_many(scene: Scene) -> Iterator[Found]:
    """`fc(h[:, -1])` where `h` has lost that axis already."""
    call = scene.node
    if isinstance(call, ast.Call) and isinstance(scene.error, (RuntimeError, IndexError)):
        for one in call.args:
            if not isinstance(one, ast.Subscript) or not isinstance(one.slice, ast.Tuple):
                continue
            value = scene.value(one.value)
            takes_axis = any(not isinstance(part, ast.Slice) for part in one.slice.elts)  # slices only cut
            if takes_axis and isinstance(value, torch.Tensor):
                because = f"`{said(one.value)}` is {list(value.shape)}: `{said(one)}` takes one axis too many"
                yield one, said(one.value, _LONG), "index", True, because
