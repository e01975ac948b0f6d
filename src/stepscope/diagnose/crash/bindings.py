"""Where a variable got its value: the statement, read off the source of the function it lives in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.common.syntax import assigned_names, enclosing_function, parents_of, tree_of
from stepscope.diagnose.crash.frames import Frame
from stepscope.records.step import Site


@dataclass(frozen=True)
class Binding:
    """One statement that gives a name its value."""

    file: str
    statement: ast.stmt
    value: ast.expr | None
    """The expression it got; of `a, b = f(x)` the whole call."""
    index: int | None = None
    """Its place among several targets."""

    @property
    def line(self) -> int:
        return self.statement.lineno

    @property
    def site(self) -> Site:
        return node_site(self.file, self.statement if self.value is None else self.value)


def node_site(file: str, node: ast.AST, function: str = "") -> Site:
    """A node's place."""
    line: int = getattr(node, "lineno", 1)
    one = getattr(node, "end_lineno", None) == line
    return Site(
        file=file,
        line=line,
        function=function,
        column=getattr(node, "col_offset", None),
        end_column=getattr(node, "end_col_offset", None) if one else None,
    )


def scope_of(frame: Frame) -> ast.AST | None:
    """The syntax of the function (or module) a frame runs."""
    tree = tree_of(frame.file)
    if tree is None or frame.function == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == frame.function:
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            if frame.first_line in (first, node.lineno):
                return node
    return enclosing_function(frame.file, frame.running) if frame.running is not None else tree


def body_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions and classes defined inside it, in source order."""
    stack = list(reversed(list(ast.iter_child_nodes(scope))))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def bindings_in(file: str, scope: ast.AST, name: str) -> list[Binding]:
    """Every statement of a scope that binds a name, in source order; of `self.x` those of the whole class."""
    if name.startswith("self."):
        parents = parents_of(file)
        holder: ast.AST | None = scope
        while holder is not None and not isinstance(holder, ast.ClassDef):
            holder = parents.get(holder)
        nodes: Iterator[ast.AST] = ast.walk(holder) if holder is not None else iter(())
    else:
        nodes = body_nodes(scope)
    found = [binding for node in nodes for binding in _bindings(file, node, name)]
    return sorted(found, key=lambda binding: binding.line)


def _bindings(file: str, node: ast.AST, name: str) -> Iterator[Binding]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _in_target(file, node, target, node.value, name)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        yield from _in_target(file, node, node.target, node.value, name)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        names = list(assigned_names(node.target))
        if name in names:
            yield Binding(file, node, node.iter, names.index(name))
    elif isinstance(node, ast.With):
        for item in node.items:
            if item.optional_vars is not None and name in assigned_names(item.optional_vars):
                yield Binding(file, node, item.context_expr)


def _in_target(file: str, node: ast.stmt, target: ast.AST, value: ast.expr | None, name: str) -> Iterator[Binding]:
    names = list(assigned_names(target))
    if name not in names:
        return
    index = names.index(name) if isinstance(target, (ast.Tuple, ast.List)) else None
    if index is not None and isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(names):
        yield Binding(file, node, value.elts[index])
    else:
        yield Binding(file, node, value, index)


def bound_before(file: str, scope: ast.AST, name: str, line: int) -> Binding | None:
    """The binding that was in force at a line: the last one above it, else (in a loop) the last of all."""
    found = bindings_in(file, scope, name)
    above = [binding for binding in found if binding.line < line]
    return above[-1] if above else (found[-1] if found else None)
