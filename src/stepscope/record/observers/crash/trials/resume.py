"""Going on from a line that raised: the statement again, and what follows it in its loop, as code of its own.

The frame is the innermost one outside any layer that loops over data, so that changed functions further in are called
again with the arguments they had.
"""

from __future__ import annotations

import ast
import gc
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, TracebackType
from typing import Any

import torch

from stepscope.common.syntax import enclosing_function, parents_of, statement_at, tree_of
from stepscope.record.observers.own_frames import is_own

_BODIES = ("body", "orelse", "finalbody")
_SIDE_EFFECTS = ("save", "dump", "write", "remove", "unlink", "rename", "rmtree", "mkdir", "to_csv", "imsave", "upload")
_NO_RESUME = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_GO_ON = "_go_on"


@dataclass(frozen=True)
class Resumed:
    """The frame to go on in, and from which line."""

    link: TracebackType
    line: int

    @property
    def file(self) -> str:
        return self.link.tb_frame.f_code.co_filename


def resumed(links: list[TracebackType], file: str, changed: ast.AST) -> Resumed | None:
    """Where to go on after a change; None where nothing can be run again.

    A change above the failing line of a frame needs that frame to go on from there.
    """
    own = [link for link in _outside_layers(links) if is_own(link.tb_frame.f_code) and _can_resume(link)]
    inside = enclosing_function(file, changed)
    above = [link for link in own if link.tb_frame.f_code.co_filename == file and _tree_of(link) is inside]
    for link in above:
        line = _statement_line(file, changed)
        if line < link.tb_lineno:
            return Resumed(link, line)
    looping = [link for link in own if _loop_around(link) is not None]
    return next((Resumed(link, link.tb_lineno) for link in (*reversed(looping), *reversed(own))), None)


def _statement_line(file: str, node: ast.AST) -> int:
    parents = parents_of(file)
    while not isinstance(node, ast.stmt):
        node = parents[node]
    return node.lineno


def _tree_of(link: TracebackType) -> ast.AST | None:
    if link.tb_frame.f_code.co_name == "<module>":
        return tree_of(link.tb_frame.f_code.co_filename)
    return _function_of(link)


def _outside_layers(links: list[TracebackType]) -> Iterator[TracebackType]:
    for link in links:
        owner = link.tb_frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module) and link.tb_frame.f_code.co_name != "__init__":
            return
        yield link


def _can_resume(link: TracebackType) -> bool:
    return link.tb_frame.f_code.co_name == "<module>" or _function_of(link) is not None


def _function_of(link: TracebackType) -> ast.FunctionDef | None:
    code, tree = link.tb_frame.f_code, tree_of(link.tb_frame.f_code.co_filename)
    if tree is None or code.co_flags & _NO_RESUME:
        return None
    return next((one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and _is_of(one, code)), None)


def _is_of(node: ast.FunctionDef, code: CodeType) -> bool:
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


def _loop_around(link: TracebackType) -> ast.AST | None:
    """The innermost loop whose body holds the statement that was running."""
    file = link.tb_frame.f_code.co_filename
    statement = statement_at(file, link.tb_lineno)
    parents = parents_of(file)
    node: ast.AST | None = statement
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        holder = parents.get(node)
        if isinstance(holder, (ast.For, ast.While)) and node in holder.body:
            return holder
        node = holder
    return None


def rest_of(tree: ast.Module, line: int) -> list[ast.stmt] | None:
    """The statement at a line and all that follows it, to the end of its loop or function."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    statement = _innermost(tree, line)
    if statement is None:
        return None
    rest: list[ast.stmt] = []
    node: ast.AST = statement
    while True:
        holder = parents.get(node)
        body = _body_with(holder, node)
        if holder is None or body is None:
            return None
        own: list[ast.stmt] = [] if rest else [statement]
        rest = [*own, *rest, *body[body.index(node) + 1 :]]  # type: ignore[arg-type]
        if isinstance(holder, (ast.For, ast.While)):
            once = ast.For(ast.Name("_once", ast.Store()), ast.Tuple([ast.Constant(0)], ast.Load()), rest, [])
            return [ast.fix_missing_locations(ast.copy_location(once, statement))]
        if isinstance(holder, (ast.FunctionDef, ast.Module)):
            return rest
        if isinstance(holder, ast.With):
            rest = [ast.copy_location(ast.With(holder.items, rest), holder)]
        elif not isinstance(holder, (ast.If, ast.Try)):
            return None
        node = holder


def _innermost(tree: ast.Module, line: int) -> ast.stmt | None:
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            best = node if best is None or node.lineno >= best.lineno else best
    return best


def _body_with(holder: ast.AST | None, node: ast.AST) -> list[ast.stmt] | None:
    bodies = (getattr(holder, name, None) for name in _BODIES)
    return next((body for body in bodies if isinstance(body, list) and node in body), None)


def without_side_effects(rest: list[ast.stmt]) -> list[ast.stmt]:
    """The statements up to the first that leaves something behind: a saved file, a sent message."""
    kept: list[ast.stmt] = []
    for statement in rest:
        for part in ("body", "orelse"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, part, without_side_effects(inner) or [ast.copy_location(ast.Pass(), statement)])
        if isinstance(statement, (ast.Expr, ast.Assign)) and _leaves_something(statement):
            break
        kept.append(statement)
    return kept


def _leaves_something(statement: ast.stmt) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if any(word in name.lower() for word in _SIDE_EFFECTS):
                return True
    return False


def runner(at: Resumed, tree: ast.Module) -> Callable[[], None] | None:
    """What runs the rest of the frame, with the frame's variables as they are."""
    rest = rest_of(tree, at.line)
    if not rest:
        return None
    rest = without_side_effects(rest)
    frame = at.link.tb_frame
    if frame.f_code.co_name == "<module>":
        code = compile(ast.Module(rest, []), at.file, "exec", dont_inherit=True)
        return lambda: exec(code, frame.f_globals)
    held = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}
    return _as_function(rest, held, frame.f_globals, at.file)


def _as_function(
    rest: list[ast.stmt], held: dict[str, Any], names: dict[str, Any], file: str
) -> Callable[[], None] | None:
    inside = [name for name in held if name != "__class__"]
    function = ast.parse(f"def _outer(__class__):\n def {_GO_ON}({', '.join(inside)}): pass\n return {_GO_ON}")
    outer = function.body[0]
    assert isinstance(outer, ast.FunctionDef)
    inner = outer.body[0]
    assert isinstance(inner, ast.FunctionDef)
    inner.body = rest
    found: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(function), file, "exec", dont_inherit=True), names, found)
    go_on = found["_outer"](held.get("__class__"))
    return lambda: go_on(*(held[name] for name in inside))


def functions_of(file: str) -> list[FunctionType]:
    """Every living function of a file."""
    return [one for one in gc.get_objects() if type(one) is FunctionType and one.__code__.co_filename == file]


def put_in_place(functions: list[FunctionType], tree: ast.Module, old: ast.Module, file: str) -> None:
    """Give living functions the code of the changed source, where it differs."""
    new, before = _codes(compile(tree, file, "exec")), _codes(compile(old, file, "exec"))
    for function in functions:
        name = _name_of(function)
        if name in new and name in before and new[name] != before[name]:
            function.__code__ = new[name]


def _name_of(function: FunctionType) -> str:
    return function.__qualname__.replace(".<locals>", "")


def _codes(code: CodeType, prefix: str = "") -> dict[str, CodeType]:
    found: dict[str, CodeType] = {}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found[prefix + part.co_name] = part
            found.update(_codes(part, f"{prefix}{part.co_name}."))
    return found
