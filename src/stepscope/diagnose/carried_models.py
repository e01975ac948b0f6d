"""A model that goes on learning from fold to fold: made once, before the loop that changes what is held out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.source import SourceFile, called_name, dotted

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.batches import Diet, Evaluated
    from stepscope.records.place import Place
    from stepscope.records.step import Site

_ANEW = ("load_state_dict", "reset_parameters", "apply", "deepcopy")
_DEEPEST = 4


def carried_from(run: Evidence, diet: Diet, evaluated: Evaluated) -> Site | None:
    """Where a model is made, when a loop trains it and evaluates it on other rows each time, and keeps it."""
    for place in evaluated.places:
        file, node = run.source.file(place.file), run.source.expression(place)
        if file is None or not isinstance(node, ast.Call):
            continue
        loops = [one for one in file.up(node) if isinstance(one, ast.For)]
        for loop in reversed(loops):
            if any(isinstance(one, ast.Call) and called_name(one) in _ANEW for one in ast.walk(loop)):
                return None
            if not any(_runs_in(file, loop, trained) for trained in diet.places):
                continue
            bound = (_bound_before(file, loop, name) for name in _models(file, node))
            made = next((one for one in bound if one is not None), None)
            if made is not None and _changes(loop, node):
                return file.site(made)
    return None


def _runs_in(file: SourceFile, loop: ast.For, place: Place) -> bool:
    """Whether a line runs inside a loop: written there, or in a function that is called there."""
    node = file.at(place.site) if place.file == file.path else None
    if node is None:
        return False
    function = file.enclosing(node, ast.FunctionDef)
    calls = [one for one in ast.walk(loop) if isinstance(one, ast.Call)]
    return loop in file.up(node) or (function is not None and any(called_name(one) == function.name for one in calls))


def _models(file: SourceFile, call: ast.Call) -> list[str]:
    """The names in a call whose parameters the script gives to an optimizer; else what it is given as it is."""
    learned = {dotted(one.func.value) for one in file.calls("parameters") if isinstance(one.func, ast.Attribute)}
    given = [one.id for one in (call.func, *call.args) if isinstance(one, ast.Name)]
    return [name for name in given if name in learned] or given


def _bound_before(file: SourceFile, loop: ast.For, name: str) -> ast.Assign | None:
    """The one statement beside a loop that binds a name, where it stands before the loop."""
    scope = file.enclosing(loop, ast.FunctionDef)
    bound = [
        one for one in file.walk(ast.Assign) if file.enclosing(one, ast.FunctionDef) is scope and _binds(one, name)
    ]
    alone = bound[0] if len(bound) == 1 and isinstance(bound[0].value, ast.Call) else None
    return alone if alone is not None and alone.lineno < loop.lineno else None


def _binds(statement: ast.Assign, name: str) -> bool:
    parts = [part for target in statement.targets for part in ast.walk(target)]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _changes(loop: ast.For, call: ast.Call) -> bool:
    """Whether what the model is given depends on the variable of the loop: other rows each time."""
    wanted = {one.id for argument in call.args for one in ast.walk(argument) if isinstance(one, ast.Name)}
    variables = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    for _ in range(_DEEPEST):
        if wanted & variables:
            return True
        for one in ast.walk(loop):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.For) else []
            value = one.value if isinstance(one, ast.Assign) else one.iter if isinstance(one, ast.For) else None
            bound = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            if value is not None and bound & wanted and one is not loop:
                wanted |= {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
    return bool(wanted & variables)
