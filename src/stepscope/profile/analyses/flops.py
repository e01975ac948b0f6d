"""FLOPs: how much each operator computed, how fast, and how near to what the device can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, share, sheet_of
from stepscope.profile.trace.devices import devices_of
from stepscope.profile.trace.flops import Arithmetic, arithmetic, ideal_seconds, model_flops_utilisation
from stepscope.profile.trace.groups import group
from stepscope.profile.trace.peaks import peak_flops
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Sheet

Values = npt.NDArray[Any]


@analysis("flops", view="operators")
def flops(trace: Trace) -> Sheet | None:
    """Arithmetic by operator and dtype: FLOPs, FLOP/s reached, share of the device's peak; the steps' MFU."""
    found = arithmetic(trace)
    if found is None:
        return None
    dtypes = sorted(set(found.dtype))
    code = np.array([dtypes.index(one) for one in found.dtype])
    name = trace.events.name[found.rows]
    groups = group(name, code)
    first = groups.first
    amount = np.nan_to_num(found.flops)
    total, time = groups.sums(amount), groups.sums(found.time_ns)
    unknown = groups.sums(np.isnan(found.flops).astype(np.int64))
    rate = np.where((time > 0) & (total > 0), total / np.maximum(time, 1) * 1e9, np.nan)
    ideal = ideal_seconds(_device_name(trace), total, tuple(dtypes[i] for i in code[first].tolist()))
    steps = max(len(trace.steps), 1)
    columns = [
        column("name", "Operator", [trace.events.names[i] for i in name[first].tolist()],
               help="The operator that does the arithmetic; operators that only dispatch to it are omitted."),
        column("dtype", "Computed in", [dtypes[i] or None for i in code[first].tolist()],
               help="The dtype of its inputs; tf32 is float32 on tensor cores."),
        column("calls", "Calls", groups.counts, "count", "How often it was called.", sums=True),
        column("flops", "FLOPs", total, "flops",
               "Floating-point operations, computed from the shapes: a multiply-accumulate counts as two.", sums=True),
        column("step_flops", "FLOPs a step", total / steps, "flops", "The same for each step.", hidden=True, sums=True),
        column("share", "Share", share(total, float(total.sum())), "share", "Of all FLOPs.", sums=True),
        column("time_ns", "Time", time, "ns",
               "Device time of the work it launched; host time if it launched none.", sums=True),
        column("rate", "Per second", rate, "flops", "FLOPs divided by time."),
        column("peak_share", "Of peak", np.where(time > 0, ideal / np.maximum(time, 1) * 1e9, np.nan), "share",
               "FLOP/s as a share of the device's published peak for this dtype."),
        column("unknown", "Not counted", unknown, "count",
               "Calls whose FLOPs cannot be computed from the trace.", hidden=True, sums=True),
    ]  # fmt: skip
    return sheet_of("flops", "FLOPs", columns, sort="flops", then="calls", checks=_checks(trace, found, total),
                    notes=_notes(trace, found))  # fmt: skip


def _device_name(trace: Trace) -> str:
    return str(devices_of(trace).properties[0].get("name", "")) if trace.has_device else ""


def _checks(trace: Trace, found: Arithmetic, total: Values) -> list[Check]:
    got, expected = float(total.sum()), float(np.nansum(found.flops))
    checks = [Check(name="rows sum to all arithmetic", got=got, expected=expected, unit="flops",
                    ok=abs(got - expected) <= 1e-9 * max(expected, 1.0))]  # fmt: skip
    ideal = ideal_seconds(_device_name(trace), found.flops, found.dtype) * 1e9
    known = ~np.isnan(ideal)
    if known.any():
        least, took = float(ideal[known].sum()), float(found.time_ns[known].sum())
        checks.append(Check(name="no faster than the device's peak", got=took, expected=least, ok=took >= least))
    return checks


def _notes(trace: Trace, found: Arithmetic) -> list[str]:
    steps, wall = max(len(trace.steps), 1), sum(step.wall_ns for step in trace.device_steps) / 1e9 / trace.slowdown
    inside = float(np.nansum(found.flops[trace.step_of[found.rows] >= 0]))
    notes = []
    if wall > 0:
        notes.append(f"{_big(inside / steps)}FLOPs a step, {_big(inside / wall)}FLOP/s over the whole step")
    utilisation, device = model_flops_utilisation(trace), _device_name(trace)
    if utilisation is not None:
        peaks = {one: peak_flops(device, one) for one in sorted(set(found.dtype))}
        told = ", ".join(f"{_big(peak)}FLOP/s in {dtype}" for dtype, peak in peaks.items() if peak)
        notes.append(f"MFU {100 * utilisation:.1f}%: that share of what {device} can do ({told}); what checkpoints "
                     "compute again counts again")  # fmt: skip
    elif trace.has_device:
        notes.append(f"no MFU: the peak of {device or 'this device'} is unknown")
    else:
        notes.append("no MFU: the peak of this processor is unknown")
    if found.loose_share > 0.05:
        notes.append(f"{100 * found.loose_share:.0f}% of the time of kernels that look like products belongs to no "
                     "operator whose shapes are known (compiled code, graphs): the true FLOPs are higher")  # fmt: skip
    missing = int(np.isnan(found.flops).sum())
    if missing:
        notes.append(f"{missing} of {len(found.rows)} calls cannot be counted from what the trace says of their inputs")
    return notes


def _big(value: float) -> str:
    """A number with its prefix: 1.2 T, 340 G."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}"
    return f"{value:.0f} "
