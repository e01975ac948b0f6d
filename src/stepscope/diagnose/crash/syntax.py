"""The syntax trees of source files, and the piece of one that a frame was running when it stopped."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["assigned_names", "enclosing_function", "parents_of", "running_node", "said", "statement_at", "tree_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@lru_cache(maxsize=64)
def tree_of(file: str) -> ast.Module | None:
    """The tree of a file as Python ran it; None where there is no source (a shell, generated code)."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=64)
def parents_of(file: str) -> dict[ast.AST, ast.AST]:
    """Each node's parent."""
    tree = tree_of(file)
    if tree is None:
        return {}
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


@lru_cache(maxsize=64)
def _by_span(file: str) -> dict[tuple[int, int, int, int], ast.AST]:
    tree = tree_of(file)
    found: dict[tuple[int, int, int, int], ast.AST] = {}
    for node in ast.walk(tree) if tree is not None else ():
        span = _span(node)
        if span is not None:
            found.setdefault(span, node)  # outer nodes come first: an expression statement before its expression
            if isinstance(found[span], ast.Expr):
                found[span] = node
    return found


def _span(node: ast.AST) -> tuple[int, int, int, int] | None:
    if isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None and node.end_col_offset is not None:
        return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    return None


def running_node(file: str, span: tuple[int, int, int, int] | None, line: int) -> ast.AST | None:
    """The sub-expression that was running; before Python 3.11 the first call or operator of its statement."""
    exact = None if span is None else _by_span(file).get(span)
    if exact is not None:
        return exact
    statement = statement_at(file, line)
    if statement is None:
        return None
    parts = (n for n in ast.walk(statement) if isinstance(n, (ast.Call, ast.BinOp, ast.AugAssign, ast.Subscript)))
    return next(parts, statement)


def statement_at(file: str, line: int) -> ast.stmt | None:
    """The innermost statement that covers a line."""
    tree = tree_of(file)
    best: ast.stmt | None = None
    for node in ast.walk(tree) if tree is not None else ():
        covers = isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        if covers and (best is None or node.lineno >= best.lineno):  # type: ignore[attr-defined]
            best = node  # type: ignore[assignment]
    return best


def enclosing_function(file: str, node: ast.AST) -> ast.AST | None:
    """The function a node stands in, or the module's tree."""
    parents = parents_of(file)
    here: ast.AST | None = node
    while here is not None:
        here = parents.get(here)
        if isinstance(here, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
            return here
    return tree_of(file)


def assigned_names(target: ast.AST) -> Iterator[str]:
    """The names a target binds: `a`, `a, b`, `self.h` (as 'self.h')."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from assigned_names(part)
    elif isinstance(target, ast.Starred):
        yield from assigned_names(target.value)
    elif isinstance(target, (ast.Name, ast.Attribute)):
        yield ast.unparse(target)


def said(node: ast.AST | None, limit: int = 60) -> str:
    """A node as source text, shortened."""
    if node is None:
        return ""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
