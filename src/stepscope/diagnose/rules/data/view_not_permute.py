from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.axes import Mixed


@rule("data.view-not-permute", severity="warning")
def view_not_permute(run: Evidence) -> Iterator[Proof]:
    """`view` or `reshape` is used where axes should be swapped.

    Why it matters: `view` keeps the numbers in the order they lie in memory and only cuts them differently, so pixels,
    steps or samples are mixed up. Nothing fails; the model learns badly from scrambled data.

    What to do: `permute`, `transpose` or `movedim` first; then `reshape` if sizes are to be joined.

    How it is found: the sizes before and after are those of a swap of axes, which `view` does not do.

    Bad:
        images = images.view(n, 3, 32, 24)      # from (n, 32, 24, 3)
    Good:
        images = images.permute(0, 3, 1, 2)
    """
    for mixed in run.axes.all:
        if mixed.place is None or (mixed.visit is None and not run.over and run.progress.step < 2):
            continue
        sizes = f"{_size(mixed.before)} into {_size(mixed.after)}"
        yield Proof(
            where=mixed.place,
            message=f"{mixed.op} turns {sizes}, which mixes the axes: {mixed.how}",
            label=f"{sizes} without moving an axis",
            evidence={"before": list(mixed.before), "after": list(mixed.after), "times": mixed.count},
            edit=edits.call_replaced(mixed.place, partial(_permuted, mixed=mixed)),
            fix=_fix(mixed),
        )


def _size(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _fix(mixed: Mixed) -> str:
    before, after = mixed.before, mixed.after
    if len(before) == len(after) and len(set(before)) == len(before):
        return f"use permute({', '.join(str(before.index(size)) for size in after)}) instead of {mixed.op}"
    if len(before) == len(after) and sorted(before) == sorted(after):
        return f"use permute or transpose instead of {mixed.op}"
    if "classes" in mixed.how:
        return f"move the classes last before it: movedim(1, -1).{mixed.op}(...)"
    if len(before) == 4:
        return f"transpose(1, 2) before the {mixed.op}"
    if len(after) == 4:
        return f"{mixed.op} to {_size((after[0], after[2], after[1], after[3]))}, then transpose(1, 2)"
    return f"transpose(0, 1) before the {mixed.op}"


def _permuted(file: SourceFile, call: ast.Call, mixed: Mixed) -> str | None:
    before, after = mixed.before, mixed.after
    function = call.func
    if not isinstance(function, ast.Attribute) or len(before) != len(after) or len(set(before)) != len(before):
        return None
    order = ", ".join(str(before.index(size)) for size in after)
    return f"{edits.text_of(file, function.value)}.permute({order})"
