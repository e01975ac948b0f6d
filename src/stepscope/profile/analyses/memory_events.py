"""The largest allocations, and who made them."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.memory.categories import CATEGORIES
from stepscope.profile.memory.peak import peaks_of
from stepscope.profile.memory.placed import Placed, placed_blocks
from stepscope.profile.profile import Profile
from stepscope.records.profile import Check, Column, Sheet

_MOST = 300


@analysis("memory-events", view="memory", of="profile")
def memory_events(profile: Profile, rank: int = 0) -> Sheet | None:
    """The largest blocks: size, category, operator, module, line, and how long they lived."""
    placed = placed_blocks(profile, rank)
    if placed is None:
        return None
    blocks = placed.blocks
    largest = np.argsort(-blocks.bytes, kind="stable")[:_MOST]
    at_peak = {int(row) for peak in peaks_of(placed) for row in peak.live}
    module = placed.module()
    rows = [_row(placed, int(i), int(module[i]), int(i) in at_peak) for i in largest]
    notes = [] if len(blocks) <= _MOST else [f"The {_MOST} largest of {len(blocks)} blocks."]
    checks = []
    for i, device in enumerate(blocks.devices):
        mine = blocks.device == i
        new = mine & (blocks.begin_ns >= 0)
        ends = int(blocks.bytes[new & (blocks.end_ns < 0)].sum())
        old = int(blocks.bytes[mine & (blocks.begin_ns < 0)].sum())
        got = device.before + ends - old
        checks.append(
            Check(
                name=f"{device.name}: blocks left over are what the allocator says in the end",
                got=got,
                expected=int(device.allocated[-1]),
                unit="bytes",
                ok=got == int(device.allocated[-1]),
            )
        )
    return Sheet(
        id="memory-events",
        title="Largest allocations",
        columns=_COLUMNS,
        rows=rows,
        sort="bytes",
        checks=checks,
        notes=notes,
    )


def _row(placed: Placed, i: int, module: int, at_peak: bool) -> list[Any]:
    blocks, trace = placed.blocks, placed.trace
    begin, end = int(blocks.begin_ns[i]), int(blocks.end_ns[i])
    step = int(trace.step_of[int(blocks.host[i])]) if blocks.host[i] >= 0 else -1
    path = placed.modules.nodes[module].path if placed.modules is not None and module >= 0 else None
    return [
        int(blocks.bytes[i]),
        blocks.devices[int(blocks.device[i])].name,
        CATEGORIES[int(placed.categories.category[i])],
        placed.operator(i),
        path,
        placed.line(i),
        placed.categories.name[i] or None,
        begin - trace.begin_ns if begin >= 0 else None,
        end - begin if begin >= 0 and end >= 0 else None,
        trace.steps[step].number if step >= 0 else None,
        at_peak,
    ]


_COLUMNS = [
    Column(key="bytes", label="Bytes", unit="bytes", help="The size of the block."),
    Column(key="device", label="Device", help="What the memory is for."),
    Column(key="category", label="Category", help="What the block is, by its address or its lifetime."),
    Column(key="operator", label="Operator", help="The outermost operator that allocated it."),
    Column(key="module", label="Module", help="The module that ran, or whose backward ran."),
    Column(
        key="where",
        label="Line",
        unit="line",
        help="Your line that allocated it; in backward, the line of its forward.",
    ),
    Column(key="name", label="Tensor", help="The name of the parameter or state it holds, where known."),
    Column(key="at_ns", label="At", unit="ns", help="When it was allocated; none if before the profile began."),
    Column(
        key="life_ns",
        label="Life",
        unit="ns",
        help="How long it lived; none if it still exists or predates the profile.",
    ),
    Column(key="step", label="Step", unit="count", help="The step it was allocated in."),
    Column(key="at_peak", label="At the peak", unit="flag", help="Whether it exists at the peak."),
]
