from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.edits.syntax import block_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, dotted

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_EPOCHS = 2


@rule("metric.not-reset", severity="warning", needs="end")
def not_reset(run: Evidence) -> Iterator[Proof]:
    """The counters of an epoch's metric are set once before all epochs, so every epoch's number averages all so far.

    Why it matters: the printed accuracy (or loss) moves more and more slowly and lags behind what the model does now:
    early mistakes stay in it.

    What to do: set the counters to 0 at the start of each epoch.

    How it is found: a numerator and a denominator grow in the loop over batches, are divided by each other once an
    epoch, and nothing sets them back inside the loop over epochs, which ran at least twice with steps in between.

    Bad:
        correct, seen = 0, 0
        for epoch in range(epochs):
            for x, y in loader:
                ...
                correct += ...; seen += len(y)
            print(epoch, correct / seen)
    Good:
        for epoch in range(epochs):
            correct, seen = 0, 0
            for x, y in loader:
                ...
    """
    stepped = {step.place.file for step in run.steps.steps if step.place is not None}
    for file in run.source.files():
        if file.path not in stepped:
            continue
        for outer in file.walk(ast.For):
            found = _never_reset(file, outer)
            if found is None or not _trains(run, file, outer):
                continue
            division, top, bottom, start = found
            yield Proof(
                where=file.site(start),
                message=f"{top} and {bottom} are never set back to 0: {top} / {bottom} is the average over all epochs "
                "so far, not of this one",
                label="set once, before all epochs",
                evidence={"numerator": top, "denominator": bottom},
                fix=f"move this into the loop over epochs (line {outer.lineno}), before the batches",
                related=[(file.site(division), "divided here, once an epoch")],
            )
            return


def _trains(run: Evidence, file: SourceFile, loop: ast.For) -> bool:
    """Whether optimizers stepped inside this loop, or evaluations ran, in at least two of its rounds."""
    lines = range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
    inside = [s for s in run.steps.steps if s.place is not None and s.place.file == file.path and s.place.line in lines]
    inner = [node for node in ast.walk(loop) if isinstance(node, _LOOPS) and node is not loop]
    return len(inside) >= _EPOCHS and bool(inner)


def _never_reset(file: SourceFile, outer: ast.For) -> tuple[ast.BinOp, str, str, ast.stmt] | None:
    inner = [node for node in outer.body if isinstance(node, _LOOPS)]
    grown = [{dotted(one.target) for one in _own(loop) if isinstance(one, ast.AugAssign)} for loop in inner]
    bound = {dotted(name) for node in _own(outer) for name in _bound(node)}
    for number, loop in enumerate(inner):
        names = {name for name in grown[number] if name and "." not in name} - bound
        if len(names) < 2 or any(names & others for k, others in enumerate(grown) if k != number):
            continue
        later = (loop.end_lineno or loop.lineno) + 1
        for node in _own(outer):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)) or node.lineno < later:
                continue
            top, bottom = dotted(node.left), dotted(node.right)
            if top in names and bottom in names and top != bottom:
                start = _start(file, outer, top)
                if start is not None:
                    return node, top, bottom, start
    return None


def _start(file: SourceFile, outer: ast.For, name: str) -> ast.stmt | None:
    """Where the name is set to zero, before the loop and beside it."""
    block = block_of(file, outer)
    before = block[: block.index(outer)] if outer in block else []
    sets = [node for node in before if isinstance(node, ast.Assign) and name in {dotted(n) for n in _bound(node)}]
    zeros = [node for node in sets if any(isinstance(n, ast.Constant) and n.value == 0 for n in ast.walk(node.value))]
    return zeros[-1] if zeros else None


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What is inside, without functions defined there."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, _SCOPES):
            yield child
            yield from _own(child)


def _bound(node: ast.AST) -> Iterator[ast.AST]:
    """The names an assignment or a loop binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.For) else []
    for target in targets:
        yield from (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
