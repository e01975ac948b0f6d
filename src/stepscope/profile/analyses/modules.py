"""Modules by their names: what each costs in forward and backward, on the host and on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.kept import kept
from stepscope.profile.memory.placed import modules_in
from stepscope.profile.profile import Profile
from stepscope.profile.trace.flops import arithmetic
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.modules import Modules
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet

Ints = npt.NDArray[Any]


@analysis("modules", view="modules", of="profile")
def modules(profile: Profile, rank: int = 0) -> Sheet | None:
    """Modules as a tree, with the time and memory of their forward and backward."""
    trace = profile.trace(rank)
    found = kept(profile, rank, modules_in)
    if trace is None or found is None:
        return None
    cost = _cost(trace, found)
    rows = [*_inside(trace, found, cost), _outside(trace, cost)]
    return Sheet(
        id="modules",
        title="Modules",
        columns=_columns(trace.has_device, bool(len(trace.memory_rows)), arithmetic(trace) is not None),
        rows=rows,
        levels=[*(found.level(i) for i in found.order()), 0],
        checks=_checks(trace, cost),
        notes=_notes(found),
    )


def _inside(trace: Trace, found: Modules, cost: dict[str, Ints]) -> list[list[Any]]:
    """A row a module, as the tree is printed."""
    summed = {key: found.summed(values[:-1]) for key, values in cost.items()}
    host, computed = found.summed(found.own_ns), _flops(trace, found)
    rows = []
    for i in found.order():
        node, mine = found.nodes[i], {key: values[i] for key, values in summed.items()}
        device = [mine["device"], mine["device_back"], mine["device"] + mine["device_back"]]
        rows.append(
            [node.label, node.path, node.kind or None, int(found.calls[i]) or None, host[i], int(found.own_ns[i]),
             mine["op_back"], *(device if trace.has_device else [None] * 3), _share(trace, cost, mine),
             computed[i] if computed else None, mine["bytes"], mine["bytes_back"], mine["op"]]
        )  # fmt: skip
    return rows


def _outside(trace: Trace, cost: dict[str, Ints]) -> list[Any]:
    """The row of everything outside the modules: the optimizer, the loss, copies."""
    mine = {key: int(values[-1]) for key, values in cost.items()}
    device = mine["device"] if trace.has_device else None
    return ["outside of modules", None, None, None, None, None, None, device, None, device, _share(trace, cost, mine),
            None, mine["bytes"], None, mine["op"]]  # fmt: skip


def _share(trace: Trace, cost: dict[str, Ints], mine: dict[str, int]) -> float:
    """Of all time on the device; without one, of all operators' time on the host."""
    what = "device" if trace.has_device else "op"
    whole = int(cost[what].sum() + cost[f"{what}_back"].sum())
    return (mine[what] + mine[f"{what}_back"]) / max(1, whole)


def _flops(trace: Trace, found: Modules) -> list[int] | None:
    """Floating-point operations by node, forward and backward together; None where the trace has no shapes."""
    known = arithmetic(trace)
    if known is None:
        return None
    at = np.where(found.backward[known.rows] >= 0, found.backward[known.rows], found.forward[known.rows])
    here = at >= 0
    return found.summed(np.bincount(at[here], np.nan_to_num(known.flops[here]), len(found.nodes)))


def _cost(trace: Trace, found: Modules) -> dict[str, Ints]:
    """Numbers by module node, the last place being everything outside the modules."""
    size, events = len(found.nodes), trace.events
    ops = np.flatnonzero((trace.kind == Kind.OP.value) & (trace.op_parent < 0))
    work = trace.device_rows
    by = np.where(trace.launch[work] >= 0, trace.launch[work], trace.device_op[work])
    memory, around = trace.memory_rows, trace.memory_host
    size_of = events.number("Bytes", 0)[memory]
    gained = size_of > 0
    cost = {}
    for key, rows, at, values in (
        ("op", ops, ops, events.dur),
        ("device", work, by, events.dur),
        ("bytes", memory[gained], around[gained], events.number("Bytes", 0)),
    ):
        forward = np.where(at >= 0, found.forward[at], -1)
        backward = np.where(at >= 0, found.backward[at], -1)
        weights = values[rows].astype(np.float64)
        is_back = backward >= 0
        place = np.where(forward >= 0, forward, size)
        cost[key] = np.bincount(place[~is_back], weights[~is_back], size + 1).astype(np.int64)
        cost[f"{key}_back"] = np.bincount(backward[is_back], weights[is_back], size + 1).astype(np.int64)
    return cost


def _checks(trace: Trace, cost: dict[str, Ints]) -> list[Check]:
    ops = int(trace.events.dur[(trace.kind == Kind.OP.value) & (trace.op_parent < 0)].sum())
    got = int(cost["op"].sum() + cost["op_back"].sum())
    checks = [Check(name="modules and the rest sum to all operators", got=got, expected=ops, ok=got == ops)]
    if trace.has_device:
        device_ns = int(trace.events.dur[trace.device_rows].sum())
        on_device = int(cost["device"].sum() + cost["device_back"].sum())
        checks.append(
            Check(
                name="modules and the rest sum to all work on the device",
                got=on_device,
                expected=device_ns,
                ok=on_device == device_ns,
            )
        )
    return checks


def _notes(found: Modules) -> list[str]:
    notes = ["Each number includes the modules below, except Own."]
    if not found.named:
        notes.append(
            "The trace has no module names, only their classes with a number; "
            "profiles made by Stepscope have the names."
        )
    return notes


def _columns(device: bool, memory: bool, flops: bool) -> list[Column]:
    return [
        Column(key="module", label="Module", help="The module's name in its parent; a root by its class."),
        Column(key="path", label="Path", help="The qualified name, as in named_modules().", hidden=True),
        Column(key="class", label="Class", help="The module's class; none for a container that is not called."),
        Column(key="calls", label="Calls", unit="count", help="How often its forward ran."),
        Column(key="forward_ns", label="Forward", unit="ns", help="Host time of its forward, modules below included."),
        Column(key="own_ns", label="Own", unit="ns", help="Host time of its forward without the modules it called."),
        Column(
            key="backward_ns",
            label="Backward",
            unit="ns",
            help="Host time of the backward operators whose forward ran in this module.",
        ),
        Column(
            key="device_forward_ns",
            label="Device forward",
            unit="ns",
            help="Time on the device of what its forward launched.",
            hidden=not device,
        ),
        Column(
            key="device_backward_ns",
            label="Device backward",
            unit="ns",
            help="Time on the device of what its backward launched.",
            hidden=not device,
        ),
        Column(key="device_ns", label="Device", unit="ns", help="Both together.", hidden=not device),
        Column(
            key="share",
            label="Share",
            unit="share",
            help="Forward and backward, of all time on the device; without one, of all operators' time on the host.",
        ),
        Column(
            key="flops",
            label="FLOPs",
            unit="flops",
            help="Floating-point operations of its forward and backward, from the shapes.",
            hidden=not flops,
        ),
        Column(
            key="allocated_bytes",
            label="Allocated",
            unit="bytes",
            help="Bytes allocated in its forward, whether kept or freed again.",
            hidden=not memory,
        ),
        Column(
            key="allocated_backward_bytes",
            label="Allocated backward",
            unit="bytes",
            help="Bytes allocated in its backward.",
            hidden=True,
        ),
        Column(
            key="op_ns",
            label="Operators",
            unit="ns",
            help="Host time of its outermost operators in forward.",
            hidden=True,
        ),
    ]
