from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_SAYS = re.compile(
    r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton dimension (\d+)"
    r"\.\s+Target sizes: \[([\d, ]*)\]\.\s+Tensor sizes: \[([\d, ]*)\]"
)


@rule("shape.assigned-part", severity="error", needs="crash")
def assigned_part(run: Evidence) -> Iterator[Proof]:
    """A part of a tensor is set to values of another shape.

    Why it matters: `x[:, 1::2] = y` writes into x, so y must have the shape of that part, or broadcast to it. With an
    odd number of columns the even ones are one more than the odd ones.

    What to do: make the values as large as the part, or cut them: `y[:, : x.shape[1] // 2]`.

    Bad:
        table[:, 1::2] = torch.cos(angles)               # 15 columns: 7 odd ones, 8 angles
    Good:
        table[:, 1::2] = torch.cos(angles[:, : table.shape[1] // 2])
    """
    crash = run.crash
    told = None if crash is None else _SAYS.search(crash.text)
    if crash is None or crash.last is None or told is None or crash.frames[-1] is not crash.last:
        return
    target = crash.last.running
    if not isinstance(target, ast.Subscript) or not isinstance(target.ctx, ast.Store):
        return
    part, values = said(target), _values(crash.last, target)
    size, given = int(told[1]), int(told[2])
    whole = crash.last.value_of(target.value)
    columns = whole.shape[-1] if isinstance(whole, HeldTensor) and whole.shape else 0
    odd = given == size + 1 and columns == given + size and ":2" in part.replace(" ", "")
    half = f"{said(target.value)}.shape[-1] // 2"
    yield Proof(
        where=crash.site,
        message=f"`{part}` has shape [{told[4]}], and it is set to values of shape [{told[5]}]"
        + (f": {columns} columns are an odd number" if odd else ""),
        label=f"{size} on axis {told[3]}, {given} given",
        evidence={"part": part, "part_shape": told[4], "value_shape": told[5]},
        fix=f"use an even size instead of {columns}; or cut the values to the part: ({values})[..., : {half}]"
        if odd
        else f"give `{part}` values of shape [{told[4]}]",
    )


def _values(frame: Frame, target: ast.Subscript) -> str:
    from stepscope.common.syntax import statement_at

    statement = statement_at(frame.file, target.lineno)
    return said(statement.value) if isinstance(statement, ast.Assign) else "values"
