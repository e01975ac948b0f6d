"""Plans for whole blocks: a statement out of its loop, a block without `no_grad`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.plans import Spans, at
from stepscope.diagnose.edits.spans import Span
from stepscope.diagnose.edits.syntax import Where, enclosing_statement, find

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import Source, SourceFile

_LOOPS = (ast.For, ast.While)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def hoisted(where: Where, *, outermost: bool = True) -> Plan:
    """The statement at a place, moved before the outermost loop around it in its function."""

    def plan(source: Source) -> Spans:
        from stepscope.diagnose.edits.plans import move_before

        found = find(source, where)
        if found is None:
            return None
        file, node = found
        loops = []
        for outer in file.up(node):
            if isinstance(outer, _SCOPES):
                break
            if isinstance(outer, _LOOPS):
                loops.append(outer)
        if not loops or _uses(node, loops, file):
            return None
        return move_before((file, node), (file, loops[-1 if outermost else 0]))(source)

    return plan


def _uses(node: ast.AST, loops: list[Any], file: SourceFile) -> bool:
    """Whether a statement needs a name that the loops bind."""
    statement = enclosing_statement(file, node)
    used = {
        one.id for one in ast.walk(statement or node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    own = {
        one.id
        for loop in loops
        for part in ast.walk(loop)
        if part is not statement and isinstance(part, ast.Name | ast.For)
        for one in ([part] if isinstance(part, ast.Name) else ast.walk(part.target))
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and not _inside(file, one, statement)
    }
    return bool(used & own)


def _inside(file: SourceFile, node: ast.AST, statement: ast.AST | None) -> bool:
    return statement is not None and (node is statement or statement in file.up(node))


def without_no_grad(where: Where) -> Plan:
    """The block under `torch.no_grad()` around a place, without it; or a function without the decorator."""

    def make(file: SourceFile, node: Any) -> Spans:
        for outer in (node, *file.up(node)):
            if isinstance(outer, ast.With) and any(_turns_off(one.context_expr) for one in outer.items):
                return _dedented(file, outer) if len(outer.items) == 1 else None
            if isinstance(outer, ast.FunctionDef):
                for one in outer.decorator_list:
                    if _turns_off(one):
                        return [Span(file, (one.lineno, 0), ((one.end_lineno or 0) + 1, 0), "")]
                return None
        return None

    return at(where, make)


def _turns_off(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return text.endswith(("no_grad()", "inference_mode()", "set_grad_enabled(False)"))


def _dedented(file: SourceFile, block: ast.With) -> Spans:
    lines = file.text.split("\n")
    first, last = block.body[0].lineno, block.end_lineno or block.lineno
    if first == block.lineno:
        return None
    step = block.body[0].col_offset - block.col_offset
    body = "".join(line[step:] + "\n" if not line[:step].strip() else line + "\n" for line in lines[first - 1 : last])
    return [Span(file, (block.lineno, 0), (last + 1, 0), body)]
