"""The rows, columns, totals and footnotes of a step's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.inspect.columns import choose_columns
from stepscope.inspect.figures import count
from stepscope.inspect.module_rows import MODULE_COLUMNS, module_rows
from stepscope.inspect.op_rows import GROUP_COLUMNS, OP_COLUMNS, line_rows, op_rows, phase_rows, type_rows
from stepscope.inspect.table import Table
from stepscope.inspect.tally import Tally, footnotes

if TYPE_CHECKING:
    from stepscope.inspect.visit import Lookup
    from stepscope.records.step import StepRecord

_HIDDEN = {
    "module": ("backward_flops", "ops", "params_percent", "param_bytes", "time_percent", "macs", "calls"),
    "op": ("macs", "function", "args", "forward_op", "params", "time_percent"),
    "line": ("macs", "backward_flops", "forward_us", "backward_us"),
    "phase": ("macs", "backward_flops", "forward_us", "backward_us"),
    "type": ("macs", "backward_flops", "forward_us", "backward_us"),
}


def step_table(
    lookup: Lookup, by: str, depth: int | None, columns: Sequence[str] | str | None, sort: str | None
) -> Table:
    record = lookup.record
    if by == "module":
        usual, rows = MODULE_COLUMNS, module_rows(lookup, depth)
    elif by == "op":
        usual, rows = OP_COLUMNS, op_rows(lookup)
    elif by in GROUP_COLUMNS:
        make = {"line": line_rows, "phase": phase_rows, "type": type_rows}[by]
        usual, rows = GROUP_COLUMNS[by], make(lookup)
    else:
        raise UsageError(f"by is {by!r}; expected 'module', 'op', 'line', 'phase' or 'type'")
    chosen = choose_columns(columns, usual)
    if sort is not None and sort.removeprefix("-") not in chosen and sort.removeprefix("-") in usual:
        chosen.append(sort.removeprefix("-"))
    total = Tally(record.ops)
    table = Table(
        columns=chosen,
        rows=rows,
        totals=_totals(record, total, by) if record.ops or by == "module" else {},
        title=_title(record),
        notes=[*footnotes(total), *_unseen(record), *_failure(record)],
        chosen=columns is not None,
        hidden=_hidden(by, total) if columns is None else (),
    )
    return table.sorted(sort)


def _hidden(by: str, total: Tally) -> tuple[str, ...]:
    return _HIDDEN[by] if total.backward_us is not None else (*_HIDDEN[by], "forward_us")


def _title(record: StepRecord) -> str:
    what = record.model or "recorded code"
    ops = len(record.ops)
    return what if not ops else f"{what}: {count(ops)} op{'s' if ops > 1 else ''}"


def _totals(record: StepRecord, total: Tally, by: str) -> dict[str, Any]:
    cells = total.cells(both_ways=by in ("op", "phase", "type")) if record.ops else {}
    cells["params"] = sum(module.parameters for module in record.modules)
    cells["trainable"] = sum(module.trainable for module in record.modules)
    cells["param_bytes"] = sum(module.parameter_bytes for module in record.modules)
    return cells


def _unseen(record: StepRecord) -> list[str]:
    if not record.unseen:
        return []
    parts = []
    for one in record.unseen:
        where = f" in {one.where}" if one.where else ""
        parts.append(f"{one.what}{where}" + (f" ({one.count}×)" if one.count > 1 else ""))
    return [f"missed by the recording: {'; '.join(parts)}"]


def _failure(record: StepRecord) -> list[str]:
    return [f"the step ended with {record.error}"] if record.error else []
