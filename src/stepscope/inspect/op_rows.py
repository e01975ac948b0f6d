"""The other tables of a step: by op, by source line, by phase, by kind of op."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from stepscope.inspect.arguments import argument_text
from stepscope.inspect.table import Row
from stepscope.inspect.tally import Tally, op_time
from stepscope.inspect.visit import OpView, place

if TYPE_CHECKING:
    from stepscope.inspect.visit import Lookup
    from stepscope.records.step import Site, TensorInfo

OP_COLUMNS = [
    "op", "index", "phase", "module_path", "input", "output", "dtype", "device", "params", "flops", "macs", "time_us",
    "time_percent", "saved_bytes", "line", "function", "args", "forward_op",
]  # fmt: skip
_COSTS = [
    "ops", "flops", "macs", "backward_flops", "time_us", "time_percent", "forward_us", "backward_us", "saved_bytes",
]  # fmt: skip
GROUP_COLUMNS = {
    "line": ["line", "function", "source", *_COSTS],
    "phase": ["phase", *_COSTS],
    "type": ["op", *_COSTS],
}
_PHASES = ("setup", "forward", "loss", "backward", "optimizer", "other")


def op_rows(lookup: Lookup) -> list[Row]:
    whole = Tally(lookup.record.ops).time_us
    return [_op_row(OpView(op, lookup), whole) for op in lookup.record.ops]


def _op_row(view: OpView, whole: float | None) -> Row:
    op = view.op
    outputs, site, took = view.outputs, view.site, op_time(op)
    cells: dict[str, Any] = {
        "op": op.name,
        "index": op.index,
        "phase": op.phase,
        "module_path": view.module,
        "input": [list(tensor.shape) for tensor in view.inputs if tensor.kind != "parameter"],
        "output": [list(tensor.shape) for tensor in outputs],
        "dtype": outputs[0].dtype if outputs else None,
        "device": outputs[0].device if outputs else None,
        "params": sum(map(_numel, view.parameters)) or None,
        "flops": op.cost.flops,
        "macs": op.cost.macs,
        "time_us": took,
        "time_percent": 100 * took / whole if took is not None and whole else None,
        "saved_bytes": op.cost.saved_bytes,
        "line": _line(site),
        "function": site.function if site is not None else None,
        "args": argument_text(op.args) or None,
        "forward_op": op.forward,
    }
    mark = "in place" if op.inplace else "view" if op.view else ""
    return Row(op.name, cells, 0, "failed" if op.error else mark, "bold red" if op.error else "")


def _numel(tensor: TensorInfo) -> int:
    total = 1
    for size in tensor.shape:
        total *= size
    return total


def _line(site: Site | None) -> str | None:
    return None if site is None else f"{site.file}:{site.line}"


def line_rows(lookup: Lookup) -> list[Row]:
    """Backward ops count for the line of their forward op."""

    def key(view: OpView) -> tuple[str, int] | None:
        site = view.site
        return None if site is None else (site.file, site.line)

    def row(view: OpView, cells: dict[str, Any]) -> Row:
        site = view.site
        if site is None:
            return Row("(no line of yours)", {"line": None, **cells})
        about = {"line": _line(site), "function": site.function, "source": site.text}
        return Row(place(site), {**about, **cells})

    return _grouped(lookup, key, row, both_ways=False)


def phase_rows(lookup: Lookup) -> list[Row]:
    rows = _grouped(
        lookup, lambda view: view.phase, lambda view, cells: Row(view.phase, {"phase": view.phase, **cells})
    )
    return sorted(rows, key=lambda row: _PHASES.index(row.label) if row.label in _PHASES else len(_PHASES))


def type_rows(lookup: Lookup) -> list[Row]:
    rows = _grouped(lookup, lambda view: view.name, lambda view, cells: Row(view.name, {"op": view.name, **cells}))
    return sorted(rows, key=lambda row: (-(row.cells["time_us"] or 0), -(row.cells["flops"] or 0)))


def _grouped(
    lookup: Lookup,
    key: Callable[[OpView], Hashable],
    row: Callable[[OpView, dict[str, Any]], Row],
    *,
    both_ways: bool = True,
) -> list[Row]:
    """One row per group, in the order of first appearance."""
    groups: dict[Hashable, tuple[OpView, Tally]] = {}
    for op in lookup.record.ops:
        view = OpView(op, lookup)
        _, tally = groups.setdefault(key(view), (view, Tally()))
        tally.add(op)
    whole = Tally(lookup.record.ops).time_us
    rows = []
    for view, tally in groups.values():
        cells = tally.cells(both_ways=both_ways)
        if tally.time_us is not None and whole:
            cells["time_percent"] = 100 * tally.time_us / whole
        rows.append(row(view, cells))
    return rows
