"""Modules by their names: what each costs in forward and backward, on the host and on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.kept import kept
from stepscope.profile.memory.placed import modules_in
from stepscope.profile.profile import Profile
from stepscope.profile.trace.modules import Modules
from stepscope.profile.trace.trace import Kind, Trace
from stepscope.records.profile import Check, Column, Sheet

__all__ = ["modules"]

Ints = npt.NDArray[Any]


@analysis("modules", view="modules", of="profile")
def modules(profile: Profile, rank: int = 0) -> Sheet | None:
    """Modules as a tree, with the time and memory of their forward and backward."""
    trace = profile.trace(rank)
    found = kept(profile, rank, modules_in)
    if trace is None or found is None:
        return None
    cost = _cost(trace, found)
    inside = {key: found.summed(values[:-1]) for key, values in cost.items()}
    host = found.summed(found.own_ns)
    device_ns = int(trace.events.dur[trace.device_rows].sum())
    everything = device_ns or sum(host) or 1
    rows: list[list[Any]] = []
    levels: list[int] = []
    for i in found.order():
        node = found.nodes[i]
        device = inside["device"][i] + inside["device_back"][i]
        share = device / everything if device_ns else None
        rows.append([
            node.label, node.path, node.kind or None, int(found.calls[i]) or None, host[i], int(found.own_ns[i]),
            inside["op_back"][i], inside["device"][i] if device_ns else None,
            inside["device_back"][i] if device_ns else None, device if device_ns else None, share,
            inside["bytes"][i], inside["bytes_back"][i], inside["op"][i],
        ])  # fmt: skip
        levels.append(found.level(i))
    left = {key: int(values[-1]) for key, values in cost.items()}
    left_device = left["device"] if device_ns else None
    rows.append([
        "outside of modules", None, None, None, None, None, None, left_device, None, left_device,
        left["device"] / everything if device_ns else None, left["bytes"], None, left["op"],
    ])  # fmt: skip
    levels.append(0)
    return Sheet(
        id="modules",
        title="Modules",
        columns=_columns(bool(device_ns), bool(len(trace.memory_rows))),
        rows=rows,
        levels=levels,
        checks=_checks(trace, cost, device_ns),
        notes=_notes(found),
    )


def _cost(trace: Trace, found: Modules) -> dict[str, Ints]:
    """Numbers by module node, the last place being what lies outside of all modules."""
    size, events = len(found.nodes), trace.events
    ops = np.flatnonzero((trace.kind == Kind.OP) & (trace.op_parent < 0))
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


def _checks(trace: Trace, cost: dict[str, Ints], device_ns: int) -> list[Check]:
    ops = int(trace.events.dur[(trace.kind == Kind.OP) & (trace.op_parent < 0)].sum())
    got = int(cost["op"].sum() + cost["op_back"].sum())
    checks = [Check(name="modules and the rest sum to all operators", got=got, expected=ops, ok=got == ops)]
    if device_ns:
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
            "The trace does not say the modules' names, only their classes with a number; "
            "a profile taken by Stepscope has the names."
        )
    return notes


def _columns(device: bool, memory: bool) -> list[Column]:
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
        Column(key="share", label="Share", unit="share", help="Of all time on the device.", hidden=not device),
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
