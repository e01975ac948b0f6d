from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from stepscope.common.ops import COPIES, RESHAPES
from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.axes import Mixed
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_STEPS = 3
_ANCESTORS = 3000


@rule("data.view-not-permute", severity="warning")
def view_not_permute(run: Evidence) -> Iterator[Proof]:
    """`view` or `reshape` is used where axes should be swapped.

    Why it matters: `view` keeps the numbers in the order they lie in memory and only cuts them differently, so pixels,
    steps or samples are mixed up. Nothing fails; the model learns badly from scrambled data.

    What to do: `permute`, `transpose` or `movedim` first; then `reshape` if sizes are to be joined.

    How it is found: the sizes before and after are those of a swap of axes, which `view` does not do. Or one long text
    was cut into rows of the batch size, and the next row, not the next column, is the target: every column then holds
    each n-th token only.

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
    yield from _interleaved(run)


def _interleaved(run: Evidence) -> Iterator[Proof]:
    """`ids.view(-1, batch)` of a text, read downward: a step in time jumps over the whole batch."""
    found: dict[Place, list[Origin]] = {}
    for call in run.losses.named("cross_entropy", "nll_loss"):
        target = None if call.target is None else _rows_of_stream(call.target.back_through(RESHAPES))
        if call.trains and call.input is not None and target is not None and target[0].place is not None:
            used = [one.inputs[0] for one in call.input.ancestors(_ANCESTORS) if one.op == "embedding" and one.inputs]
            given = [rows for ids in used if (rows := _rows_of_stream(ids.back_through(RESHAPES))) is not None]
            if any(rows[0] is target[0] and rows[1] is not target[1] for rows in given):
                found.setdefault(target[0].place, []).append(target[0])
    for place, tables in found.items():
        steps, columns = tables[0].shape
        if len(tables) < _STEPS:
            continue
        yield Proof(
            where=place,
            message=f"the text is cut into rows of {columns} tokens, but the model reads it down the columns: each "
            f"column holds every {columns}th token, and the next row is {columns} tokens later, not the next token",
            label=f"({steps}, {columns}): neighbors in the text lie side by side, not below each other",
            evidence={"shape": [steps, columns], "steps": len(tables)},
            fix=f"view({columns}, -1).t().contiguous(): each column is then one piece of the text",
        )


def _rows_of_stream(origin: Origin) -> tuple[Origin, Origin] | None:
    """(table, rows): a few whole rows of a table of integers that was cut from one long row, and that table."""
    if origin.op != "getitem" or len(origin.inputs) != 1 or len(origin.shape) != 2 or origin.is_floating:
        return None
    table = origin.inputs[0].back_through(COPIES)
    if table.op not in ("view", "reshape") or len(table.inputs) != 1 or len(table.inputs[0].shape) != 1:
        return None
    is_whole = len(table.shape) == 2 and table.shape[1] == origin.shape[1] > 1 and table.shape[0] > origin.shape[0]
    return (table, origin) if is_whole else None


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
