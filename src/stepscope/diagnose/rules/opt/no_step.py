from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.edits.loop import call_on, holder_at
from stepscope.diagnose.edits.syntax import find
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source, SourceFile
    from stepscope.records.place import Place

_ENOUGH = 5


@rule("opt.no-step", severity="error", follows=("opt.rebound-param",))
def no_step(run: Evidence) -> Iterator[Proof]:
    """Gradients are computed, but nothing ever updates the parameters.

    Why it matters: the model stays exactly as it was initialized, however long it runs.

    What to do: call `optimizer.step()` after `backward()`.

    If `step()` is there, under a condition: make sure that the condition is met. With gradient accumulation, step
    after the last batch of an epoch too.

    How it is found: at the end of the script `backward()` has run at least five times, an optimizer exists that has
    never stepped, and its parameters got gradients and have not changed in a single value.

    Bad:
        optimizer.zero_grad()
        loss.backward()
    Good:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    backwards = [b for b in run.steps.backwards if b.accumulates]
    if len(backwards) < _ENOUGH or not (run.over or len(backwards) >= 20 * _ENOUGH):
        return
    for made in run.optimizers.made:
        if run.steps.count_of(made.number):
            continue
        trained = [p for p in made.parameters if p.alive and p.gradients >= 3]
        if not trained or any(p.changed is not False for p in trained):
            continue
        if any(other is not made and other.holds(trained[0]) for other in run.optimizers.made):
            continue
        unreached = _unreached_step(run.source, backwards[-1].place, made.place)
        if unreached is not None:
            yield _never_true(unreached, len(backwards))
            continue
        zeroed = any(one.optimizer == made.number for one in run.optimizers.zeroings)
        yield Proof(
            where=backwards[-1].place,
            message=f"{len(backwards)} times backward, but the optimizer's step() was never called: nothing learns",
            label=f"{len(trained)} parameters get gradients here and never change",
            evidence={"backwards": len(backwards), "steps": 0, "zero_grad_called": zeroed},
            edit=None
            if run.trainer.steps_itself
            else call_on("step", backwards[-1].place, made=made.place, after=True),
            fix="return the optimizer from configure_optimizers"
            if run.trainer.steps_itself
            else "call optimizer.step() after this line",
            related=[(made.place, f"this {made.type} never steps")] if made.place is not None else [],
        )


def _unreached_step(source: Source, backward: Place | None, made: Place | None) -> tuple[SourceFile, ast.If] | None:
    """The condition around a `step()` of this optimizer, in the function that calls backward."""
    name, found = holder_at(source, backward, made=made), find(source, backward)
    if name is None or found is None:
        return None
    file, node = found
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    around, function = set(file.up(node)), file.enclosing(node, *functions)
    for call in file.calls("step"):
        is_mine = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == name
        condition = file.enclosing(call, ast.If, *functions)
        if not is_mine or file.enclosing(call, *functions) is not function:
            continue
        if isinstance(condition, ast.If) and condition not in around:
            return file, condition
    return None


def _never_true(unreached: tuple[SourceFile, ast.If], backwards: int) -> Proof:
    file, condition = unreached
    return Proof(
        where=file.site(condition.test),
        message=f"{backwards} times backward, but step() is under a condition that was never true: nothing learns",
        label="never true here",
        evidence={"backwards": backwards, "steps": 0, "condition": ast.unparse(condition.test)},
        fix="let the condition come true; when accumulating gradients, also step after the last batch of an epoch",
    )
