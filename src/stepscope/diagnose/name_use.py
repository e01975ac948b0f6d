"""What becomes of the name a result is given: never read again, or given to something else first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source, SourceFile
    from stepscope.records.place import Place

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class NameUse:
    """`fate`: "unread" (nothing in the function reads it), "overwritten" (a later line gives the name away first) or
    "loop" (the next turn of the loop does)."""

    def __init__(self, name: str, fate: str) -> None:
        self.name = name
        self.fate = fate


def fate_of_name(source: Source, place: Place | None) -> NameUse | None:
    """The fate of the name that the expression at a place is assigned to; None where it is read, or has none."""
    expression = source.expression(place)
    file = None if place is None else source.file(place.site.file)
    if expression is None or file is None:
        return None
    statement = file.enclosing(expression, ast.stmt)
    name = _assigned(statement)
    if name is None or name.startswith("_"):
        return None
    scope = file.enclosing(statement, *_SCOPES)
    if scope is None or _is_shared(scope, name):
        return None
    if not any(_reads(node, name) for node in ast.walk(scope)):
        return NameUse(name, "unread")
    fate = _next(file, statement, name)
    return None if fate is None else NameUse(name, fate)


def _assigned(statement: Any) -> str | None:
    """`x` of `x = ...`."""
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return None
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _is_shared(scope: ast.AST, name: str) -> bool:
    """The name belongs to more than this scope: a global, or `locals()` hands it on."""
    for node in ast.walk(scope):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars"):
            return True
    return False


def _reads(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name) and node.id == name:
        return not isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name


def _next(file: SourceFile, statement: ast.stmt, name: str) -> str | None:
    """What the lines after a statement do with its name first."""
    parent = file.parents.get(statement)
    body = next((b for b in _bodies(parent) if statement in b), None)
    if body is None:
        return None
    at = body.index(statement)
    for later in body[at + 1 :]:
        if any(_reads(node, name) for node in ast.walk(later)):
            return None
        if _assigned(later) == name:
            return "overwritten"
    if isinstance(parent, _LOOPS) and not any(_reads(node, name) for turn in body[: at + 1] for node in ast.walk(turn)):
        return "loop"
    return None


def _bodies(node: ast.AST | None) -> list[list[ast.stmt]]:
    return [found for part in ("body", "orelse", "finalbody") if isinstance(found := getattr(node, part, None), list)]
