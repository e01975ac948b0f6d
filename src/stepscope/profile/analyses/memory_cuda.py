"""What CUDA's allocator holds: in use, asked for, and reserved for later."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.memory.history import history_of
from stepscope.profile.memory.snapshot_file import decode_snapshot
from stepscope.profile.profile import Profile
from stepscope.records.profile import Check, Column, Sheet


@analysis("memory-cuda", view="memory", of="profile")
def memory_cuda(profile: Profile, rank: int = 0) -> Sheet | None:
    """CUDA's memory at the end: reserved, in use, asked for, and idle between them."""
    raw = profile.read("memory", rank)
    if raw is None:
        return None
    snapshot = decode_snapshot(raw)
    histories = {one.device: one for one in history_of(snapshot)}
    device_of = np.array(snapshot.blocks.device, np.int64)
    sizes, wanted = np.array(snapshot.blocks.bytes, np.int64), np.array(snapshot.blocks.requested, np.int64)
    rows: list[list[Any]] = []
    checks = []
    for device, reserved in sorted(snapshot.reserved.items()):
        mine = device_of == device
        used, asked = int(sizes[mine].sum()), int(wanted[mine].sum())
        history = histories.get(device)
        peak = history.peak()[1] if history is not None else None
        rows.append(
            [f"CUDA {device}", reserved, used, reserved - used, used - asked, snapshot.segments.get(device, 0),
             int(mine.sum()), peak]
        )  # fmt: skip
        if history is not None:
            left = int(history.bytes[history.end_ns < 0].sum())
            checks.append(
                Check(
                    name=f"CUDA {device}: blocks left over are what the allocator says in the end",
                    got=left,
                    expected=used,
                    unit="bytes",
                    ok=left == used,
                )
            )
    return Sheet(id="memory-cuda", title="CUDA's allocator", columns=_COLUMNS, rows=rows, checks=checks)


_COLUMNS = [
    Column(key="device", label="Device", help="The device."),
    Column(key="reserved_bytes", label="Reserved", unit="bytes", help="Reserved from the driver, in use or not."),
    Column(key="used_bytes", label="In use", unit="bytes", help="Allocated to tensors."),
    Column(key="idle_bytes", label="Idle", unit="bytes", help="Reserved but not allocated."),
    Column(key="rounding_bytes", label="Rounding", unit="bytes", help="Allocated beyond what was requested."),
    Column(key="segments", label="Segments", unit="count", help="Number of segments of the reserved memory."),
    Column(key="blocks", label="Blocks", unit="count", help="Blocks in use."),
    Column(key="peak_bytes", label="Peak", unit="bytes", help="Maximum in use during the history."),
]
