from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.edits.literals import literal_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.schedulers import Scheduler


@rule("opt.lambda-absolute-lr", severity="warning", follows=("num.int-division",))
def lambda_absolute_lr(run: Evidence) -> Iterator[Proof]:
    """The function of a LambdaLR gives a learning rate, but it must give a factor of the optimizer's.

    Why it matters: the two are multiplied, so with 0.01 and 0.01 the learning rate is 0.0001, and nothing learns.

    What to do: return a factor (1.0 for the optimizer's own rate), or set the optimizer's `lr` to 1.0.

    How it is found: the factor is small from the start and never rises, or it is exactly the optimizer's own rate.

    Bad:
        scheduler = LambdaLR(optimizer, lambda epoch: 0.01 * 0.95**epoch)
    Good:
        scheduler = LambdaLR(optimizer, lambda epoch: 0.95**epoch)
    """
    for scheduler in run.schedulers.all:
        if scheduler.type != "LambdaLR" or not scheduler.base_lr or scheduler.base_lr > 0.2:
            continue
        factors = _factors(run, scheduler)
        if len(factors) < 4 or max(factors) >= 0.05 or max(factors) <= 0:
            continue
        same = abs(max(factors) - scheduler.base_lr) <= 1e-3 * scheduler.base_lr
        falling = all(later <= earlier * 1.000001 for earlier, later in itertools.pairwise(factors))
        # A long warm-up starts as low, and rises.
        if not falling and not (same and run.over and factors[-1] <= max(factors)):
            continue
        yield Proof(
            where=_where(run, scheduler),
            message=f"the LambdaLR's function returns {factors[0]:.3g}, a learning rate: it is multiplied with the "
            f"optimizer's own {scheduler.base_lr:.3g}",
            label=f"the learning rate is {factors[0] * scheduler.base_lr:.2g}",
            evidence={"factors": factors[:8], "lr": scheduler.base_lr},
            edit=edits.replace(_where(run, scheduler), partial(_factor, rate=scheduler.base_lr)),
            fix="return a factor: 1.0 keeps the optimizer's learning rate",
            related=[(scheduler.place, "the scheduler is made here")] if scheduler.place is not None else (),
        )


def _factors(run: Evidence, scheduler: Scheduler) -> list[float]:
    rates = [scheduler.first_lr, *(step.lr for step in scheduler.steps[1:])]
    return [rate / scheduler.base_lr for rate in rates if rate is not None and scheduler.base_lr]


def _where(run: Evidence, scheduler: Scheduler) -> Any:
    """What the function returns; the scheduler itself where that is not known."""
    function = next(iter(scheduler.functions), None)
    file = None if function is None else run.source.file(function.file)
    if function is None or file is None:
        return scheduler.place
    for node in file.walk(ast.Lambda, ast.FunctionDef):
        if node.lineno != function.first_line:
            continue
        if isinstance(node, ast.Lambda):
            return file.site(node.body)
        returns = [part for part in ast.walk(node) if isinstance(part, ast.Return)]
        if returns:
            return file.site(returns[-1])
    return scheduler.place


def _factor(file: SourceFile, node: Any, rate: float) -> str | None:
    """What is returned, divided by the optimizer's own learning rate."""
    value = node.value if isinstance(node, ast.Return) else node
    if value is None or not isinstance(value, ast.expr):
        return None
    returned = "return " if isinstance(node, ast.Return) else ""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for base, rest in ((value.left, value.right), (value.right, value.left)):
            constant = literal_of(file, base)
            if isinstance(constant, ast.Constant) and constant.value == rate:
                return f"{returned}{edits.text_of(file, rest)}"
    return f"{returned}({edits.text_of(file, value)}) / {rate:g}"
