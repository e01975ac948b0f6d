"""Each device at a glance: how busy it was, how full, and how much of its work ran on tensor cores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.kernels import occupancy
from stepscope.profile.analyses.table import column, share, sheet_of
from stepscope.profile.trace.devices import devices_of, window
from stepscope.profile.trace.flops import model_flops_utilisation
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet

Values = npt.NDArray[Any]


@analysis("devices", view="overview")
def devices(trace: Trace) -> Sheet | None:
    """Each device: its name, how long it worked, how full its multiprocessors were, tensor cores, copies."""
    if not trace.has_device:
        return None
    found = devices_of(trace)
    begin, end = window(trace)
    usual = (end - begin) / trace.slowdown
    figures = [_figures(trace, rows, begin, end, usual) for rows in found.rows]
    utilisation = model_flops_utilisation(trace)
    busy = np.array([one["busy"] for one in figures])
    columns = [
        column("device", "Device", [str(number) for number in found.numbers], help="Its number."),
        column("name", "Name", [properties.get("name") for properties in found.properties], help="What it is."),
        column("busy_ns", "Busy", busy, "ns", "Time in which a kernel, a copy or a fill ran, within the steps."),
        column("busy_share", "Busy share", share(busy, usual), "share", "Of the time the steps usually take."),
        column("kernel_share", "Computing", [one["kernel"] for one in figures], "share",
               "The share of the steps in which a kernel ran that does not communicate."),
        column("sm_share", "SM efficiency", [one["sm"] for one in figures], "share",
               "Kernels count by how many of the multiprocessors had a block to run: an estimate of utilization."),
        column("occupancy", "Occupancy", [one["occupancy"] for one in figures], "share",
               "Estimated achieved occupancy of all kernels; weighted by time."),
        column("tensor_core_share", "Tensor cores", [one["cores"] for one in figures], "share",
               "The share of the kernels' time on tensor cores, by their names."),
        column("mfu", "MFU", [utilisation if i == 0 else None for i in range(len(figures))], "share",
               "Model FLOPs utilization: the least time the products could take, as a share of the steps' time."),
        column("kernels", "Kernels", [one["count"] for one in figures], "count", "How many ran."),
        column("multiprocessors", "SMs", [p.get("numSms") for p in found.properties], "count",
               "Streaming multiprocessors of the device.", hidden=True),
        column("memory_bytes", "Memory", [p.get("totalGlobalMem") for p in found.properties], "bytes",
               "Memory of the device.", hidden=True),
    ]  # fmt: skip
    return sheet_of("devices", "Devices", columns, notes=_notes(trace))


def _notes(trace: Trace) -> list[str]:
    if trace.slowdown == 1.0:
        return []
    return [
        f"recording made the steps {trace.slowdown:.1f}x as long, but not the device's work: "
        "shares are of what the steps usually take"
    ]


def _figures(trace: Trace, rows: Values, begin: int, end: int, usual: float) -> dict[str, Any]:
    events = trace.events
    edges = np.array([begin]), np.array([end])

    def covered(chosen: Values) -> int:
        when = Stretches.union(events.start[chosen], events.start[chosen] + events.dur[chosen])
        return int(when.within(*edges)[0])

    kernels = rows[trace.kind[rows] == Kind.KERNEL.value]
    computing = kernels[~trace.is_collective[kernels]]
    dur = events.dur[computing].astype(float)
    blocks, filled = np.minimum(events.real("blocks per SM")[computing], 1.0), occupancy(trace, computing)
    span = max(usual, 1.0)
    inside = min(covered(computing), span)
    return {
        "busy": covered(rows),
        "kernel": inside / span,
        "sm": None if (mean_blocks := _mean(blocks, dur)) is None else mean_blocks * inside / span,
        "occupancy": _mean(filled, dur),
        "cores": float(dur[trace.is_tensor_core[computing]].sum() / dur.sum()) if dur.sum() else None,
        "count": len(kernels),
    }


def _mean(values: Values, weights: Values) -> float | None:
    known = ~np.isnan(values)
    total = float(weights[known].sum())
    return float((values[known] * weights[known]).sum()) / total if total else None
