"""The value of an expression in a frame, read without running any code of the user's."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any

from stepscope import fence
from stepscope.common.syntax import running_node
from stepscope.evidence.crash import Callee
from stepscope.record.observers.crash.kinds import held_by
from stepscope.record.observers.own_frames import is_own
from stepscope.records.step import Site

_NOTHING: Any = object()
_ARGUMENTS = re.compile(r"^([\w.<>]+)\(\) (takes|missing|got (an unexpected|multiple values|some positional))")


def instruction_span(code: CodeType, lasti: int) -> tuple[int, int, int, int] | None:
    """The lines and columns of an instruction; None before Python 3.11."""
    if not hasattr(code, "co_positions"):
        return None
    for index, position in enumerate(code.co_positions()):
        if index * 2 == lasti and None not in position:
            return position  # type: ignore[no-any-return]
    return None


def container_at(link: TracebackType) -> Any:
    """What the running `x[key]` of a frame takes an item out of."""
    node = _running(link)
    node = node.value if isinstance(node, ast.Subscript) else node.func if isinstance(node, ast.Call) else node
    node = node.value if isinstance(node, ast.Attribute) and node.attr in ("pop", "__getitem__") else node
    return value_in(link, node)


@fence.fenced("reading what was called")
def called(error: BaseException, links: list[TracebackType]) -> Callee | None:
    """The function that a call gave the wrong arguments to, with its parameters."""
    said = _ARGUMENTS.match(str(error)) if isinstance(error, TypeError) else None
    if said is None or not links:
        return None
    node = _running(links[-1])
    function = value_in(links[-1], node.func) if isinstance(node, ast.Call) else _NOTHING
    if isinstance(function, type):
        function = _of_class(function, "__init__")
    elif not isinstance(function, (FunctionType, MethodType, BuiltinFunctionType)) and function is not _NOTHING:
        function = _of_class(type(function), "__call__")
    plain = inspect.unwrap(getattr(function, "__func__", function)) if function is not _NOTHING else None
    if not isinstance(plain, FunctionType) or plain.__name__ != said[1].rpartition(".")[2]:
        return Callee(said[1])
    parameters = [_without_annotation(one) for one in inspect.signature(plain).parameters.values()]
    bound = "." in plain.__qualname__ and parameters[:1] in (["self"], ["cls"])
    code = plain.__code__
    site = Site(file=code.co_filename, line=code.co_firstlineno, function=plain.__name__) if is_own(code) else None
    return Callee(said[1], parameters[1:] if bound else parameters, site)


def _without_annotation(one: inspect.Parameter) -> str:
    text = str(one.replace(annotation=inspect.Parameter.empty))
    return text if len(text) <= 40 else one.name


def _running(link: TracebackType) -> ast.AST | None:
    code = link.tb_frame.f_code
    return running_node(code.co_filename, instruction_span(code, link.tb_lasti), link.tb_lineno)


def value_in(link: TracebackType, node: ast.AST | None) -> Any:
    """The live value of a name, an attribute or an item of a plain container."""
    frame = link.tb_frame
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Attribute):
        owner = value_in(link, node.value)
        return _NOTHING if owner is _NOTHING else _attribute(owner, node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = value_in(link, node.value)
        if type(owner) in (list, tuple, dict):
            try:
                return owner[node.slice.value]
            except (LookupError, TypeError):
                return _NOTHING
    return _NOTHING


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, _NOTHING)
    held = held_by(owner)
    if name in held:
        return held[name]
    layers = held.get("_modules")
    if isinstance(layers, dict) and name in layers:
        return layers[name]
    return _of_class(owner if isinstance(owner, type) else type(owner), name)


def _of_class(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        found = vars(base).get(name, _NOTHING)
        if found is not _NOTHING:
            return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    return _NOTHING
