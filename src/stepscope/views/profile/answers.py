"""Results of the analyses in a form for the page: kinds, sizes, and sheets with plain cells."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from stepscope.records.profile import Curve, Sheet, Stack, StepParts
from stepscope.views.plain import plain
from stepscope.views.profile.open_profiles import Failed

AnswerKind = Literal["sheet", "parts", "curve", "stack", "trace", "failed", "nothing"]

MAX_ROWS = 20_000
"""More rows than a person reads; an export has them all."""
_KINDS: dict[type, AnswerKind] = {
    Sheet: "sheet",
    StepParts: "parts",
    Curve: "curve",
    Stack: "stack",
    Failed: "failed",
    type(None): "nothing",
}


def kind_of(answer: object) -> AnswerKind:
    return _KINDS[type(answer)]


def size_of(answer: object) -> int:
    """Number of rows, steps, points or frames."""
    if isinstance(answer, Sheet):
        return len(answer.rows)
    if isinstance(answer, StepParts):
        return len(answer.steps)
    if isinstance(answer, Curve):
        return len(answer.at_ns)
    return len(answer.parent) if isinstance(answer, Stack) else 0


def shown_sheet(sheet: Sheet) -> Sheet:
    """The sheet with at most `MAX_ROWS` rows, its cells as plain JSON values."""
    rows = [[_cell(cell) for cell in row] for row in sheet.rows[:MAX_ROWS]]
    return replace(sheet, rows=rows, levels=sheet.levels[:MAX_ROWS])


def _cell(cell: Any) -> Any:
    if type(cell) in (str, int, float, bool, type(None)):
        return plain(cell)
    return plain(cell.item() if hasattr(cell, "item") else msgspec.to_builtins(cell))  # a number of numpy's
