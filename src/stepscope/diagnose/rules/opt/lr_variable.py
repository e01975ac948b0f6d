from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.optimizers import Made

_ENOUGH = 10
_HARMLESS = frozenset((
    "print", "append", "info", "debug", "format", "log", "set_postfix", "write", "add_scalar", "round", "float",
))  # fmt: skip
"""What takes a number only to show it."""


@rule("opt.lr-variable", severity="warning", needs="end")
def lr_variable(run: Evidence) -> Iterator[Proof]:
    """A variable for the learning rate is changed during training, but the optimizer keeps the rate it was made with.

    Why it matters: an optimizer copies the number it is given. Changing the variable later changes nothing, so the
    decay that the code speaks of never happens.

    What to do: write it into the optimizer (`for group in optimizer.param_groups: group["lr"] = lr`), or use a
    scheduler.

    How it is found: the name that an optimizer was given as its learning rate gets another value in a loop, nothing but
    output reads it after that, and the learning rate of every step of that optimizer was the same.

    Bad:
        optimizer = SGD(model.parameters(), lr=lr)
        for epoch in range(epochs):
            lr = lr * 0.9
    Good:
        for epoch in range(epochs):
            lr = lr * 0.9
            for group in optimizer.param_groups:
                group["lr"] = lr
    """
    for made in run.optimizers.made:
        rates = {step.lr for step in run.steps.of_optimizer(made.number)}
        call = run.source.call(made.place)
        file = None if made.place is None else run.source.file(made.place.site.file)
        if call is None or file is None or len(rates) != 1 or run.steps.count_of(made.number) < _ENOUGH:
            continue
        name = _rate_name(call)
        changed = None if name is None else _changed_in_vain(file, name, call)
        if changed is None or any(one.count for one in run.schedulers.of_optimizer(made.number)):
            continue
        yield _proof(file, made, str(name), changed, rates.pop())


def _rate_name(call: ast.Call) -> str | None:
    """The variable that is given as the learning rate."""
    given = next(
        (word.value for word in call.keywords if word.arg == "lr"), call.args[1] if len(call.args) > 1 else None
    )
    return given.id if isinstance(given, ast.Name) else None


def _changed_in_vain(file: SourceFile, name: str, made: ast.Call) -> ast.stmt | None:
    """The statement in a loop that changes the variable, where nothing but output reads it from then on."""
    scope = file.enclosing(made, ast.FunctionDef, ast.AsyncFunctionDef) or file.tree
    found = None
    for loop in ast.walk(scope):
        if not isinstance(loop, (ast.For, ast.While)) or made in ast.walk(loop):
            continue
        for node in ast.walk(loop):
            if isinstance(node, (ast.Assign, ast.AugAssign)) and _sets(node, name):
                found = found or node
        for node in ast.walk(loop):
            if (
                isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                and _is_used(file, node, name)
            ):
                return None
    if found is not None and any(_is_declared(node, name) for node in file.walk(ast.Global, ast.Nonlocal)):
        return None
    return found


def _sets(node: ast.Assign | ast.AugAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _is_declared(node: ast.Global | ast.Nonlocal, name: str) -> bool:
    return name in node.names


def _is_used(file: SourceFile, node: ast.Name, name: str) -> bool:
    """Whether a read of the variable may reach anything but output and itself."""
    for outer in file.up(node):
        if isinstance(outer, (ast.JoinedStr, ast.FormattedValue)):
            return False
        if isinstance(outer, ast.Call) and node is not outer.func:
            return called_name(outer) not in _HARMLESS | {"max", "min"}
        if isinstance(outer, (ast.Assign, ast.AugAssign)):
            return not _sets(outer, name)
        if isinstance(outer, (ast.If, ast.While, ast.Compare)):
            return False
        if isinstance(outer, ast.stmt):
            return True
    return True


def _proof(file: SourceFile, made: Made, name: str, changed: ast.stmt, rate: float | None) -> Proof:
    return Proof(
        where=file.site(changed),
        message=f"`{name}` is changed here, but the optimizer keeps its initial learning rate ({rate:g})"
        if rate is not None
        else f"`{name}` is changed here, but the optimizer keeps its initial learning rate",
        label="only a variable: no optimizer reads it",
        evidence={"variable": name, "lr": rate},
        fix=f'set it in the optimizer: for group in optimizer.param_groups: group["lr"] = {name}',
        related=[(made.place, "the optimizer took its value here")] if made.place is not None else (),
    )
