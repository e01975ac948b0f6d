from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of, functions_named
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.spent_iterator import spent
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name

_ONCE = frozenset(("iter", "zip", "map", "filter", "enumerate", "islice", "chain", "reversed"))
"""Calls whose result can be iterated once."""
_EPOCHS = 2


@rule("data.exhausted-iterator", severity="error", needs="crash, end")
def exhausted_iterator(run: Evidence) -> Iterator[Proof]:
    """The batches come from an iterator that is empty after the first epoch, so later epochs train on nothing.

    Why it matters: a generator, `zip`, `map` or `iter` can be iterated once. The loop over it in the second epoch ends
    at once, without an error: the model has trained one epoch, whatever the number of epochs says.

    What to do: make the iterator again inside the loop over the epochs, or use a list or a DataLoader.

    A `next()` on such an iterator fails with StopIteration: start it again when it ends.

    How it is found: a loop that trains, inside another loop, goes through an iterator that was made before the outer
    one; and after the last update the script went on setting the model to train twice or more without another one.

    Bad:
        batches = batches_of(x, y)            # a generator
        for epoch in range(epochs):
            for x, y in batches: ...
    Good:
        for epoch in range(epochs):
            for x, y in batches_of(x, y): ...
    """
    if run.crash is not None:
        yield from _stopped(run.crash)
        return
    places = {(one.place.site.file, one.place.site.line) for one in run.steps.backwards if one.place is not None}
    for file in run.source.files():
        for loop in file.walk(ast.For):
            outer = file.enclosing(loop, ast.For, ast.While)
            if outer is None or not any(path == file.path and _has(loop, line) for path, line in places):
                continue
            idle = _idle_epochs(run, file, outer)
            made = None if idle < _EPOCHS else _made_before(run, file, loop, outer)
            if made is None:
                continue
            yield Proof(
                where=file.site(made),
                message=f"the iterator made here is empty after one epoch: {idle} later epochs trained on nothing",
                label="can be iterated only once",
                evidence={"idle_epochs": idle, "updates": run.progress.step},
                fix="recreate it inside the epoch loop, or keep the batches in a list",
                related=[(file.site(loop.iter), "iterated here in every epoch")],
            )
            return


def _stopped(crash: Crash) -> Iterator[Proof]:
    """`next()` has asked for more than there is."""
    found = spent(crash)
    if found is None:
        return
    short = found.holds is not None and found.wanted is not None and found.holds < found.wanted
    gives = "is empty" if found.holds is None else f"is empty after {found.holds} items"
    more = f", and this loop takes {found.wanted}" if short else ", and this line asks for one more"
    again = f"{found.name} = {found.made.text}"
    yield Proof(
        where=crash.site,
        message=f"`{found.name}` {gives}{more}",
        label="asks for more than there is",
        evidence={"iterator": found.name, "items": found.holds, "wanted": found.wanted},
        fix=f"start again when it ends: on StopIteration, `{again}`, and take the next item from that",
        related=[(found.made.site, f"`{found.name}` is made here, for one pass")],
    )


def _has(node: ast.For | ast.While, line: int) -> bool:
    return node.lineno < line <= (node.end_lineno or node.lineno)


def _idle_epochs(run: Evidence, file: SourceFile, outer: ast.For | ast.While) -> int:
    """How often a line of the outer loop set the model to train (or to evaluate) again after the last update."""
    total = max((call.backwards for call in run.modes.calls), default=0)
    if not total:
        return 0
    calls = [call for call in run.modes.calls if call.kind == "train" and call.backwards == total]
    sites = [call.place.site for call in calls if call.place is not None and call.place.site.file == file.path]
    lines = [site.line for site in sites if _has(outer, site.line)]
    return max((lines.count(line) - 1 for line in lines), default=0)


def _made_before(run: Evidence, file: SourceFile, loop: ast.For, outer: ast.AST) -> ast.AST | None:
    """The statement before the outer loop that made the iterator the inner one goes through."""
    source = loop.iter
    while isinstance(source, ast.Call) and called_name(source) in ("enumerate", "tqdm", "zip") and source.args:
        source = source.args[0]
    if not isinstance(source, ast.Name):
        return None
    if any(_binds(node, source.id) for node in ast.walk(outer)):
        return None
    binding = binding_of(file, source.id, outer)
    if binding is None or binding.value is None:
        return None
    return binding.statement if _is_once(run, binding.value) else None


def _binds(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _is_once(run: Evidence, value: ast.expr) -> bool:
    if isinstance(value, ast.GeneratorExp):
        return True
    name = called_name(value)
    if name in _ONCE:
        return True
    own = list(functions_named(run, name)) if name else []
    return bool(own) and all(_yields(function) for _, function in own)


def _yields(function: ast.FunctionDef) -> bool:
    inner = {
        part
        for node in ast.walk(function)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function
        for part in ast.walk(node)
    }
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) and node not in inner for node in ast.walk(function))
