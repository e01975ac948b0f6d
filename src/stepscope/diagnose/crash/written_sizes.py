"""Where the number that a layer was built with is written: a constant, a config entry, an argument, a computation."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.edits.layers import size_position
from stepscope.diagnose.edits.literals import given_argument, written_at
from stepscope.diagnose.edits.syntax import find

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source, SourceFile
    from stepscope.records.step import Site

_PLAIN = (ast.Name, ast.Attribute, ast.BinOp, ast.Constant, ast.operator, ast.expr_context)


def size_written(
    source: Source, built: Site | None, name: str, value: int, *, counted: bool = False, alone: bool = False
) -> Site | None:
    """The line to change for another `out_features`; that of the layer itself where the number stands there.

    `counted`: only a number that is worked out (`len(words)`) and handed to the class; one that is written down, or
    that the whole file knows by its name, is right by itself. `alone`: only one that no other layer takes as well.
    """
    found = find(source, built)
    if found is None or not isinstance(found[1], ast.Call):
        return built
    file, call = found
    given = given_argument(call, size_position(call, name), name)
    end = None if given is None else written_at(file, given, value)
    if end is None or end is given:
        return built
    if alone and isinstance(given, ast.Name) and _uses(file, given) > 1:
        return built
    if counted and (isinstance(end, ast.Constant) or (isinstance(given, ast.Name) and not _is_argument(file, given))):
        return built
    return file.site(end)


def size_beside(source: Source, built: Site | None, other: Site | None, names: tuple[str, ...], value: int) -> str:
    """How the code that builds a layer can write the size of another one: `hidden`, where both stand in one function.

    The number itself where the other layer's size has no name there, or the name may have changed in between.
    """
    here, there = find(source, built), find(source, other)
    if here is None or there is None or here[0] is not there[0] or not isinstance(there[1], ast.Call):
        return str(value)
    file, call = there
    positions = ((name, size_position(call, name)) for name in names)
    given = next((found for name, at in positions if (found := given_argument(call, at, name)) is not None), None)
    scope = file.enclosing(call, ast.FunctionDef)
    is_shared = scope is not None and scope is file.enclosing(here[1], ast.FunctionDef)
    if given is None or not is_shared or not _is_stable(scope, given):
        return str(value)
    return ast.unparse(given)


def _is_stable(scope: ast.AST, size: ast.expr) -> bool:
    """Whether an expression is a name, or a computation with names, that a function binds at most once."""
    parts = list(ast.walk(size))
    if not all(isinstance(one, _PLAIN) for one in parts):
        return False
    names = {one.id for one in parts if isinstance(one, ast.Name)}
    bound = [one.id for one in ast.walk(scope) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return bool(names) and not names & set(bound)


def handed_in(source: Source, made: Site | None) -> Site | None:
    """The line to change for a tensor that a helper makes in a size it is given: the one call of the helper."""
    found = find(source, made)
    if found is None:
        return made
    file, node = found
    function = file.enclosing(node, ast.FunctionDef)
    sizes = [one for one in ast.walk(node) if isinstance(one, ast.Name) and _is_argument(file, one)]
    if function is None or function.name == "forward" or not sizes or not isinstance(node, ast.Call):
        return made
    given = [
        call
        for every in source.files()
        for call in every.calls(function.name)
        if any(isinstance(part, ast.Name) for one in call.args for part in ast.walk(one))
    ]
    outside = [call for call in given if file.enclosing(call, ast.FunctionDef) is not function]
    return file.site(outside[0]) if len(given) == len(outside) == 1 else made


def _is_argument(file: SourceFile, name: ast.Name) -> bool:
    function = file.enclosing(name, ast.FunctionDef)
    return function is not None and name.id in {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}


def _uses(file: SourceFile, name: ast.Name) -> int:
    function = file.enclosing(name, ast.FunctionDef)
    parts = ast.walk(function) if function is not None else ()
    return sum(isinstance(part, ast.Name) and part.id == name.id for part in parts)
