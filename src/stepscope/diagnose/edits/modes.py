"""Plans around whole models: training and evaluation mode, clipped gradients, copies of their weights."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.loop import holder_at, imports
from stepscope.diagnose.edits.plans import Spans, after, after_statement, at, before_statement, first_of, span
from stepscope.diagnose.edits.spans import Span
from stepscope.diagnose.edits.syntax import Where, enclosing_statement, find, name_of_result, text_of

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import Source, SourceFile

_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _model_at(file: SourceFile, node: Any) -> str | None:
    """`model` of `model(x)`; None where what is called has no plain name."""
    call = node if isinstance(node, ast.Call) else None
    if call is None or not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    name = ast.unparse(call.func)
    return name if all(part.isidentifier() for part in name.split(".")) and name != "self" else None


def _outer(file: SourceFile, node: ast.AST) -> list[Any]:
    """The statements a node is in, the innermost first, up to its function."""
    found = []
    for one in (node, *file.up(node)):
        if isinstance(one, _SCOPES):
            break
        if isinstance(one, ast.stmt):
            found.append(one)
    return found


def mode_calls(made: Where, place: Where) -> Plan:
    """`model.eval()` before an evaluation and `model.train()` after it."""

    def make(file: SourceFile, node: Any) -> Spans:
        name = _model_at(file, node)
        block = _evaluation(file, node)
        if name is None or block is None:
            return None
        before = before_statement(file, block, f"{name}.eval()")
        returns = any(isinstance(one, ast.Return) for one in ast.walk(block))
        if returns:
            return before if _switches_back(file) else None
        after_it = after_statement(file, block, f"{name}.train()")
        return None if before is None or after_it is None else [*before, *after_it]

    return at(place, make)


def _evaluation(file: SourceFile, node: ast.AST) -> ast.stmt | None:
    """What belongs to an evaluation: all of its function, else the block without gradients or the loop it is in."""
    outer = _outer(file, node)
    function = file.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    trains = function is None or any(
        isinstance(one, ast.Attribute) and one.attr in ("backward", "step") for one in ast.walk(function)
    )
    if not trains:
        return outer[-1] if outer else None
    blocks = [one for one in outer if isinstance(one, ast.With) and "no_grad" in ast.unparse(one.items[0])]
    return (blocks or outer or [None])[0]


def _switches_back(file: SourceFile) -> bool:
    return any(not call.args for call in file.calls("train"))


def put_in_eval(made: Where, called: Where = None) -> Plan:
    """`teacher.eval()` before the loop that calls it; else once it is made."""

    def before_loop(file: SourceFile, node: Any) -> Spans:
        name = _model_at(file, node)
        outer = _outer(file, node)
        loops = [one for one in outer if isinstance(one, _LOOPS)]
        return before_statement(file, (loops or outer)[-1], f"{name}.eval()") if name and outer else None

    def once_made(file: SourceFile, node: Any) -> Spans:
        name = name_of_result(file, node)
        return None if name is None else after_statement(file, enclosing_statement(file, node), f"{name}.eval()")

    return first_of(at(called, before_loop), at(made, once_made))


def train_before(switch: Where, training: Where) -> Plan:
    """`model.train()` before training continues: before its loop, or in it where the evaluation is in the same loop."""

    def plan(source: Source) -> Spans:
        here, there = find(source, training), find(source, switch)
        if here is None or there is None:
            return None
        file, node = here
        name = _model_at(file, node)
        outer = _outer(file, node)
        if name is None or not outer:
            return None
        loop = next((one for one in outer if isinstance(one, _LOOPS)), None)
        if loop is None or _reaches(loop, there[0], there[1]):
            return before_statement(file, outer[0], f"{name}.train()")
        return before_statement(file, loop, f"{name}.train()")

    return plan


def _reaches(loop: ast.AST, file: SourceFile, switch: ast.AST) -> bool:
    """Whether a loop has the switch in it, or calls the function that has."""
    if loop in file.up(switch):
        return True
    function = file.enclosing(switch, ast.FunctionDef, ast.AsyncFunctionDef)
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in ast.walk(loop)}
    return function is not None and function.name in names


def clipped(backward: Where, made: Where, limit: str) -> Plan:
    """Gradients clipped after a backward, to a norm."""

    def plan(source: Source) -> Spans:
        name, found = holder_at(source, backward, made=made), find(source, backward)
        if name is None or found is None or not imports(found[0], "torch"):
            return None
        return after(backward, f"torch.nn.utils.clip_grad_norm_({name}.parameters(), {limit})")(source)

    return plan


def deep_copied(where: Where) -> Plan:
    """`copy.deepcopy(...)` around an expression, with the import it needs."""

    def make(file: SourceFile, node: Any) -> Spans:
        return [span(file, node, f"copy.deepcopy({text_of(file, node)})"), *added_import(file, "copy")]

    return at(where, make, ast.Call)


def added_import(file: SourceFile, name: str) -> list[Span]:
    """`import copy` before the first import of a file, where it is missing."""
    if imports(file, name):
        return []
    first = next(
        (
            one
            for one in file.tree.body
            if isinstance(one, ast.Import) or (isinstance(one, ast.ImportFrom) and one.module != "__future__")
        ),
        None,
    )
    line = 1 if first is None else first.lineno
    return [Span(file, (line, 0), (line, 0), f"import {name}\n")]
