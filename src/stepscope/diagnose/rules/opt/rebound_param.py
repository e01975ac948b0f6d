from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile

_SOURCES = (
    "parameters",
    "named_parameters",
    "params",
    "param_groups",
    "zip",
    "values",
    "items",
    "enumerate",
    "weights",
)
_TENSORS = ("parameters", "buffers", "named_parameters", "named_buffers", "items", "values")


@rule("opt.rebound-param", severity="error")
def rebound_param(run: Evidence) -> Iterator[Proof]:
    """An update makes a new tensor and gives it the loop variable's name; the parameter itself never changes.

    Why it matters: `p = p - lr * p.grad` computes the right numbers and throws them away. Nothing is learned.

    What to do: write into the parameter: `p -= lr * p.grad` or `p.sub_(lr * p.grad)`, under `torch.no_grad()`.

    How it is found: parameters got gradients in at least three backwards and not one of their values has changed, and a
    loop of the script assigns to its own variable an expression with a gradient, which nothing reads afterward. Or a
    loop over the parameters of two models ends by assigning one loop variable to the other, which copies nothing.

    Bad:
        for p in model.parameters():
            p = p - lr * p.grad
    Good:
        with torch.no_grad():
            for p in model.parameters():
                p -= lr * p.grad
    """
    yield from _copies(run)
    if run.steps.backward_count < 3:
        return
    trained = [p for p in run.models.parameters if p.gradients >= 3]
    still = [p for p in trained if p.changed is False]
    if not trained or len(still) < len(trained):
        return
    places = {b.place.file for b in run.steps.backwards if b.place is not None}
    for path in places:
        run.source.file(path)
    for file in run.source.files():
        for loop in file.walk(ast.For):
            found = _rebound(loop)
            if found is None:
                continue
            name = ast.unparse(found.targets[0])
            yield Proof(
                where=file.site(found),
                message=f"{name} = ... creates a new tensor and does not change the parameter: nothing is learned",
                label=f"{len(still)} parameters get gradients and never change",
                evidence={"parameters": len(still), "backwards": run.steps.backward_count},
                edit=edits.replace((file, found), _in_place),
                fix=_fix(file, found),
            )


def _copies(run: Evidence) -> Iterator[Proof]:
    """`for p, q in zip(a.parameters(), b.parameters()): p = q` leaves both models as they are."""
    if not run.over or run.steps.backward_count < 3:
        return
    for file in run.source.files():
        for loop in file.walk(ast.For):
            found = _renamed(file, loop)
            if found is not None:
                name = ast.unparse(found.targets[0])
                yield Proof(
                    where=file.site(found),
                    message=f"{name} = ... rebinds the loop variable and does not change the parameter",
                    label="nothing is written into the model",
                    evidence={"statement": ast.unparse(found)},
                    edit=edits.replace((file, found), _in_place),
                    fix=f"write into the parameter: {name}.copy_({ast.unparse(found.value)}), under torch.no_grad()",
                )


def _renamed(file: SourceFile, loop: ast.For) -> ast.Assign | None:
    """The assignment to a variable of a loop over parameters that nothing reads before the loop sets it again."""
    calls = [node for node in ast.walk(loop.iter) if isinstance(node, ast.Call)]
    tensors = [one for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr in _TENSORS]
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    if len(tensors) < 2 or len(names) < 2:
        return None
    scope = file.enclosing(loop, ast.FunctionDef, ast.AsyncFunctionDef) or file.tree
    for node in (part for statement in loop.body for part in ast.walk(statement)):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        if node.targets[0].id in names and used & names and not _is_read_later(scope, node):
            return node
    return None


def _is_read_later(scope: ast.AST, assignment: ast.Assign) -> bool:
    last, name = assignment.end_lineno or assignment.lineno, ast.unparse(assignment.targets[0])
    loads = (n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
    return any(node.lineno > last for node in loads)


def _rebound(loop: ast.For) -> ast.Assign | None:
    """An assignment to the loop's own variable, from itself and a gradient, that is lost when the loop goes on."""
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    for node in (part for statement in loop.body for part in ast.walk(statement)):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if name not in names or not isinstance(node.value, ast.BinOp):
            continue
        used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        used |= {part.attr for part in ast.walk(node.value) if isinstance(part, ast.Attribute)}
        if name in used and len(used) > 1 and not _read_after(loop, node, name):
            return node
    return None


def _read_after(loop: ast.For, assignment: ast.Assign, name: str) -> bool:
    """Whether the new tensor is used; `p.grad.zero_()` afterward reads the name, but does not use it."""
    last = assignment.end_lineno or assignment.lineno
    for node in (part for statement in loop.body for part in ast.walk(statement)):
        if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load):
            continue
        if node.lineno > last and not _is_grad_of(loop, node):
            return True
    return False


def _is_grad_of(loop: ast.For, name: ast.Name) -> bool:
    return any(isinstance(n, ast.Attribute) and n.value is name and n.attr == "grad" for n in ast.walk(loop))


def _fix(file: SourceFile, found: ast.Assign) -> str:
    name = ast.unparse(found.targets[0])
    value = found.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Sub, ast.Add)) and ast.unparse(value.left) == name:
        sign = "-" if isinstance(value.op, ast.Sub) else "+"
        return f"{name} {sign}= {ast.unparse(value.right)}, under torch.no_grad()"
    return f"write into the parameter: {name}.copy_({ast.unparse(value)}), under torch.no_grad()"


def _in_place(file: SourceFile, found: ast.Assign) -> str:
    """The same update, written into the parameter."""
    name, value = ast.unparse(found.targets[0]), found.value
    is_data = file.enclosing(found, ast.With) is None
    target = f"{name}.data" if is_data else name
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Sub, ast.Add)) and ast.unparse(value.left) == name:
        sign = "-" if isinstance(value.op, ast.Sub) else "+"
        return f"{target} {sign}= {edits.text_of(file, value.right)}"
    return f"{target}.copy_({edits.text_of(file, value)})"
