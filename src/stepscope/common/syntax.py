"""The syntax trees of source files, and the expression that a frame was executing."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_kept: ContextVar[Mapping[str, str] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_texts(texts: Mapping[str, str]) -> Iterator[None]:
    """Inside the block, files have the content stored in a run, not what this machine has under their names now."""
    token = _kept.set(texts)
    try:
        yield
    finally:
        _kept.reset(token)


def tree_of(file: str) -> ast.Module | None:
    """The tree of a file as Python ran it; None without source (a shell, generated code)."""
    texts = _kept.get()
    return _tree_here(file) if texts is None else _parsed(texts.get(file, ""))


@lru_cache(maxsize=64)
def _tree_here(file: str) -> ast.Module | None:
    return _parsed("".join(linecache.getlines(file)))


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def parents_of(file: str) -> dict[ast.AST, ast.AST]:
    """Each node's parent."""
    tree = tree_of(file)
    return {} if tree is None else _parents(tree)


@lru_cache(maxsize=64)
def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


@lru_cache(maxsize=64)
def _by_span(tree: ast.Module) -> dict[tuple[int, int, int, int], ast.AST]:
    found: dict[tuple[int, int, int, int], ast.AST] = {}
    for node in ast.walk(tree):
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
    """The running sub-expression; before Python 3.11 the first call or operator of its statement."""
    tree = tree_of(file)
    exact = None if span is None or tree is None else _by_span(tree).get(span)
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
    """The function that contains a node, or the module's tree."""
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
