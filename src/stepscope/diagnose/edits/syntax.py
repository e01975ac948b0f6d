"""Where something is in a file: the node at a place, its statement, its text, the name its result gets."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.records.place import Place
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source, SourceFile

Where = Any
"""A place, a site, (file, line), or (file, node) where the rule has the node already."""


def find(source: Source, where: Where) -> tuple[SourceFile, Any] | None:
    """The file and the node at a place: an expression by its columns, a statement where only the line is known."""
    if isinstance(where, tuple) and isinstance(where[1], ast.AST):
        return where[0], where[1]
    site = where.site if isinstance(where, Place) else where
    if isinstance(site, tuple):
        site = Site(file=site[0], line=site[1])
    if site is None:
        return None
    file = source.file(site.file)
    if file is None:
        return None
    if site.column is None or (site.end_column is None and site.end_line is None):
        node: ast.AST | None = _statement_on(file, site.line)
    else:
        node = _statement_like(file, site) or file.at(site)
    return None if node is None else (file, node)


def _statement_like(file: SourceFile, site: Site) -> ast.stmt | None:
    """The statement that covers exactly these columns, unless it is an expression standing alone."""
    ends = {(site.end_line or site.line, site.end_column)}
    for node in file.walk(ast.stmt):
        if (node.lineno, node.col_offset) == (site.line, site.column) and not isinstance(node, ast.Expr):
            whole = (node.end_lineno, node.end_col_offset) in ends
            if whole or (site.end_column is None and node.end_lineno == site.end_line):
                return node  # type: ignore[no-any-return]
    return None


def _statement_on(file: SourceFile, line: int) -> ast.stmt | None:
    """The smallest statement that begins on this line, or covers it."""
    found = [node for node in file.walk(ast.stmt) if node.lineno <= line <= (node.end_lineno or node.lineno)]
    begun = [node for node in found if node.lineno == line]
    return min(begun or found, key=lambda node: (node.end_lineno or node.lineno) - node.lineno, default=None)


def text_of(file: SourceFile, node: ast.AST) -> str:
    """The source of a node as it is written."""
    return ast.get_source_segment(file.text, node) or ast.unparse(node)


def enclosing_statement(file: SourceFile, node: ast.AST) -> ast.stmt | None:
    return node if isinstance(node, ast.stmt) else file.enclosing(node, ast.stmt)


def block_of(file: SourceFile, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which this one stands."""
    parent = file.parents.get(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        body = getattr(parent, field, None)
        if isinstance(body, list) and statement in body:
            return body
    return [statement]


def is_atom(node: ast.AST) -> bool:
    """Whether `.method()` can be written right after it."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List | ast.Dict)


def name_of_result(file: SourceFile, node: ast.AST) -> str | None:
    """What a call's result is assigned to: `optimizer` of `optimizer = SGD(...)`; None where that is not plain."""
    statement = enclosing_statement(file, node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    else:
        return None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = [one for one, given in zip(target.elts, value.elts, strict=True) if given is node]
        return ast.unparse(pairs[0]) if pairs else None
    is_whole = value is node and isinstance(target, ast.Name | ast.Attribute)
    return ast.unparse(target) if is_whole else None


def called_name_of(function: ast.expr) -> str:
    """The last name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
