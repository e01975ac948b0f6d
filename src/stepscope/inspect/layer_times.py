"""The times of many recorded runs of one step, collected per layer and per op."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from stepscope.inspect.module_rows import inclusive_tallies, module_rows
from stepscope.inspect.table import Row
from stepscope.inspect.tally import op_time
from stepscope.inspect.visit import Lookup, OpView

if TYPE_CHECKING:
    from stepscope.records.step import Op, StepRecord

Key = tuple[str, str | None, int, str, int]
"""What identifies an op across runs: phase, module, call, name, and occurrence."""
_KINDS = ("forward", "backward", "update")


def middle_and_spread(values: list[float]) -> tuple[float, float]:
    """The median and the interquartile range.

    >>> middle_and_spread([1.0, 2.0, 3.0, 4.0, 100.0])
    (3.0, 2.0)
    """
    if len(values) < 2:
        return values[0], 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, high - low


class Times:
    def __init__(self) -> None:
        self.runs = 0
        self._first: StepRecord | None = None
        self._ops: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._layers: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    @property
    def first(self) -> StepRecord:
        assert self._first is not None
        return self._first

    def add(self, record: StepRecord) -> None:
        """Add the times of one run."""
        self._first = self._first or record
        self.runs += 1
        lookup = Lookup(record)
        for index, key in _keys(record).items():
            self._add_op(lookup, index, self._ops[key])
        for path, tally in inclusive_tallies(lookup).items():
            if tally.forward_us is not None:
                self._layers[path]["forward"].append(tally.forward_us)
            if tally.backward_us is not None:
                self._layers[path]["backward"].append(tally.backward_us)
        for path, us in _updates(lookup).items():
            self._layers[path]["update"].append(us)

    def _add_op(self, lookup: Lookup, index: int, times: dict[str, list[float]]) -> None:
        ops = lookup.record.ops
        op = ops[index]
        took = op_time(op)
        if took is None:
            return
        if op.phase == "optimizer":
            times["update"].append(took)
        elif op.phase != "backward":
            times["forward"].append(took)
            back = [op_time(ops[number]) for number in lookup.differentiated.get(index, ())]
            known = [time for time in back if time is not None]
            if known:
                times["backward"].append(sum(known))
        elif op.forward is None:
            times["backward"].append(took)

    def layer_rows(self) -> list[Row]:
        """The rows of the module table, with the times of all runs."""
        rows = [row for row in module_rows(Lookup(self.first), None) if not row.label.startswith("(")]
        for row in rows:
            self._fill(row.cells, self._layers.get(row.cells["module"]))
        return rows

    def op_rows(self) -> list[Row]:
        lookup = Lookup(self.first)
        rows = []
        for index, key in _keys(self.first).items():
            if key not in self._ops:
                continue
            view = OpView(self.first.ops[index], lookup)
            site = view.site
            cells: dict[str, Any] = {
                "module": view.module,
                "type": view.module_type,
                "op": view.name,
                "phase": view.phase,
                "line": None if site is None else f"{site.file}:{site.line}",
                "input": [list(tensor.shape) for tensor in view.inputs if tensor.kind != "parameter"],
                "output": [list(tensor.shape) for tensor in view.outputs],
                "params": sum(_numel(tensor.shape) for tensor in view.parameters),
                "flops": view.cost.flops,
                "macs": view.cost.macs,
            }
            self._fill(cells, self._ops[key])
            rows.append(Row(view.name, cells))
        return rows

    def _fill(self, cells: dict[str, Any], times: dict[str, list[float]] | None) -> None:
        seen = 0
        for kind in _KINDS:
            values = (times or {}).get(kind)
            if values:
                seen = max(seen, len(values))
                cells[f"{kind}_us"], cells[f"{kind}_spread_us"] = middle_and_spread(values)
        cells["runs"] = seen or None
        flops, took = cells.get("flops"), cells.get("forward_us")
        cells["flops_per_s"] = flops / took * 1e6 if flops and took else None


def _keys(record: StepRecord) -> dict[int, Key]:
    """Every op's key. Backward ops that belong to a forward op are found through it and have no key."""
    seen: Counter[tuple[Any, ...]] = Counter()
    keys: dict[int, Key] = {}
    for op in record.ops:
        if op.phase == "backward" and op.forward is not None:
            continue
        base = (op.phase, op.module, op.call, op.name)
        keys[op.index] = (*base, seen[base])
        seen[base] += 1
    return keys


def _updates(lookup: Lookup) -> dict[str, float]:
    """The optimizer's time by module: an op's time is distributed over the parameters it updates by their size.

    An op that updates no named parameter (only optimizer state) is distributed over all trained ones.
    """
    sizes: Counter[str] = Counter()
    for tensor in lookup.record.tensors:
        if tensor.kind == "parameter" and tensor.requires_grad and tensor.name:
            sizes[tensor.name] = _numel(tensor.shape)
    found: Counter[str] = Counter()
    for op in lookup.record.ops:
        took = op_time(op) if op.phase == "optimizer" else None
        if took is None:
            continue
        shares = _touched(op, lookup) or sizes
        whole = sum(shares.values())
        for name, part in shares.items():
            for path in _around(name, lookup):
                found[path] += took * part / whole if whole else 0  # type: ignore[assignment]
    return dict(found)


def _touched(op: Op, lookup: Lookup) -> Counter[str]:
    names: Counter[str] = Counter()
    for tensor in lookup.infos(op.inputs):
        of = tensor if tensor.grad_of is None else lookup.tensors.get(tensor.grad_of)
        if of is not None and of.kind == "parameter" and of.name:
            names[of.name] = _numel(of.shape)
    return names


def _around(name: str, lookup: Lookup) -> list[str]:
    """The modules that own a parameter, innermost first."""
    found = []
    while name:
        name = name.rpartition(".")[0]
        if name in lookup.modules:
            found.append(name)
    return found


def _numel(shape: tuple[int, ...]) -> int:
    total = 1
    for one in shape:
        total *= one
    return total
