"""Memory by operator: what each allocates and what it leaves behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet

Ints = npt.NDArray[Any]


@analysis("memory-operators", view="memory")
def memory_operators(trace: Trace) -> Sheet | None:
    """Operators by the memory they allocate, on the host and on the device."""
    rows, host = trace.memory_rows, trace.memory_host
    change = trace.events.number("Bytes", 0)[rows]
    if not change.any():
        return None
    op = np.where((host >= 0) & (trace.kind[host] != Kind.OP.value), trace.op_parent[host], host)
    on_cpu = trace.events.number("Device Type", 0)[rows] == 0
    size = len(trace.events.names)
    name = trace.events.name
    gains = (change > 0) & (op >= 0)
    count = np.bincount(name[op[gains]], minlength=size)
    allocated = np.bincount(name[op[gains]], change[gains], size)
    own = [_own(name, op, change, mask, size) for mask in (on_cpu, ~on_cpu)]
    total = [_total(trace, op, change, mask, size) for mask in (on_cpu, ~on_cpu)]
    touched = np.flatnonzero((count > 0) | np.any([column != 0 for column in (*own, *total)], axis=0))
    has_device = bool((~on_cpu).any())
    table = [
        [trace.events.names[i].removeprefix("autograd::engine::evaluate_function: "), int(count[i]), int(allocated[i]),
         int(own[0][i]), int(total[0][i]), int(own[1][i]) if has_device else None,
         int(total[1][i]) if has_device else None]
        for i in touched.tolist()
    ]  # fmt: skip
    table.sort(key=lambda row: -(row[2] or 0))
    outside = int(change[op < 0].sum())
    got = int(sum(column.sum() for column in own)) + outside
    return Sheet(
        id="memory-operators",
        title="Memory of operators",
        columns=_columns(has_device),
        rows=table,
        sort="allocated_bytes",
        checks=[
            Check(
                name="operators and the rest sum to all changes",
                got=got,
                expected=int(change.sum()),
                unit="bytes",
                ok=got == int(change.sum()),
            )
        ],
        notes=[f"Outside of operators, {outside:+,} bytes were allocated or freed."] if outside else [],
    )


def _own(name: Ints, op: Ints, change: Ints, mask: Ints, size: int) -> Ints:
    here = mask & (op >= 0)
    return np.bincount(name[op[here]], change[here], size).astype(np.int64)


def _total(trace: Trace, op: Ints, change: Ints, mask: Ints, size: int) -> Ints:
    """With what the operators below did; one below itself counts once."""
    name, total = trace.events.name, np.zeros(size)
    seen: list[Ints] = []
    here = np.where(mask, op, -1)
    while (here >= 0).any():
        names = np.where(here >= 0, name[here].astype(np.int64), -1)
        fresh = here >= 0
        for earlier in seen:
            fresh &= names != earlier
        total += np.bincount(names[fresh], change[fresh], size)
        seen.append(names)
        here = np.where(here >= 0, trace.op_parent[here], -1)
    return total.astype(np.int64)


def _columns(device: bool) -> list[Column]:
    return [
        Column(key="operator", label="Operator", help="The operator; of backward its node."),
        Column(key="allocations", label="Allocations", unit="count", help="Blocks it allocated itself."),
        Column(key="allocated_bytes", label="Allocated", unit="bytes", help="Their size, whether freed later or not."),
        Column(key="own_bytes", label="CPU own", unit="bytes", help="Allocated minus freed by the operator itself."),
        Column(key="total_bytes", label="CPU total", unit="bytes", help="The same, including the operators it called."),
        Column(
            key="device_own_bytes",
            label="Device own",
            unit="bytes",
            help="Allocated minus freed on the device by the operator itself.",
            hidden=not device,
        ),
        Column(
            key="device_total_bytes",
            label="Device total",
            unit="bytes",
            help="The same, including the operators it called.",
            hidden=not device,
        ),
    ]
