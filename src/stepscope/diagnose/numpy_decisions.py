"""What becomes of numbers that have left torch: the comparison in the source that turns them into decisions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.source import SourceFile, called_name

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.records.place import Place
    from stepscope.records.step import Site

_ROUNDS = ("round", "rint", "around")
_SHAPES = ("squeeze", "flatten", "ravel", "reshape", "array", "asarray")


def compared_outside(run: Evidence, place: Place | None) -> tuple[Site | None, float | None]:
    """(where, with what) the numbers that leave torch at a place are compared: `out.numpy() > 0.5`, or a line later."""
    if place is None:
        return None, None
    site = place.site
    file, node = run.source.file(site.file), run.source.expression(site)
    if file is None or node is None:
        return None, None
    inner: ast.AST = node
    for outer in file.up(node):
        found = _threshold(outer, inner)
        if found is not None:
            return file.site(outer), found
        if isinstance(outer, ast.Call) and called_name(outer) not in _SHAPES:
            return None, None
        if isinstance(outer, ast.stmt):
            return _later(file, outer)
        inner = outer
    return None, None


def _later(file: SourceFile, statement: ast.stmt) -> tuple[Site | None, float | None]:
    """Of `p = out.numpy()`: the first comparison of `p` after it in the same function."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None, None
    target = statement.targets[0]
    scope = file.enclosing(statement, ast.FunctionDef, ast.Module)
    if not isinstance(target, ast.Name) or scope is None:
        return None, None
    for node in ast.walk(scope):
        if getattr(node, "lineno", 0) > statement.lineno:
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.Name) and part.id == target.id:
                    found = _threshold(node, part)
                    if found is not None:
                        return file.site(node), found
    return None, None


def _threshold(outer: ast.AST, inner: ast.AST) -> float | None:
    """The number `inner` is compared with, when `outer` is that comparison (or a rounding)."""
    if isinstance(outer, ast.Call) and called_name(outer) in _ROUNDS and any(inner is one for one in outer.args[:1]):
        return 0.5 if len(outer.args) == 1 else None
    if not isinstance(outer, ast.Compare) or len(outer.ops) != 1:
        return None
    if not isinstance(outer.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return None
    sides = [outer.left, outer.comparators[0]]
    other = next((side for side in sides if side is not inner), None)
    value = other.value if isinstance(other, ast.Constant) else None
    return float(value) if isinstance(value, (int, float)) else None
