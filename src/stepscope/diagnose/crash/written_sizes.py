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


def _is_argument(file: SourceFile, name: ast.Name) -> bool:
    function = file.enclosing(name, ast.FunctionDef)
    return function is not None and name.id in {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}


def _uses(file: SourceFile, name: ast.Name) -> int:
    function = file.enclosing(name, ast.FunctionDef)
    parts = ast.walk(function) if function is not None else ()
    return sum(isinstance(part, ast.Name) and part.id == name.id for part in parts)
