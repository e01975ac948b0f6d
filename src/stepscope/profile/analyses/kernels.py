"""Kernels: how often, how long, how well they fill the device, on tensor cores or not, and who launched them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import Filled, column, mean, named, share, sheet_of
from stepscope.profile.trace.groups import Groups, group, index_of
from stepscope.profile.trace.kernel_names import kernel_kind, short_kernel_name
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Sheet

Values = npt.NDArray[Any]


@analysis("kernels", view="kernels")
def kernels(trace: Trace) -> Sheet | None:
    """Kernels by name and the operator that launched them: calls, times, occupancy, tensor cores."""
    rows = trace.rows(Kind.KERNEL)
    if not len(rows):
        return None
    events = trace.events
    launcher = np.where(trace.device_op[rows] >= 0, events.name[trace.device_op[rows]].astype(np.int64), -1)
    groups = group(events.name[rows], launcher)
    dur = events.dur[rows]
    names = [events.names[i] for i in events.name[rows[groups.first]].tolist()]
    total = groups.sums(dur)
    columns = [
        column("name", "Kernel", [short_kernel_name(name) for name in names], help="Its name without types."),
        column("operator", "Launched by", named(trace, launcher[groups.first]),
               help="The innermost operator on the host that launched it."),
        column("kind", "Kind", [kernel_kind(name) for name in names], help="The kind of work, by its name."),
        column("calls", "Calls", groups.counts, "count", "How often it ran.", sums=True),
        column("total_ns", "Total", total, "ns", "Its total time on the device.", sums=True),
        column("share", "Share", share(total, float(dur.sum())), "share", "Of the time of all kernels.", sums=True),
        column("mean_ns", "Mean", mean(total, groups.counts), "ns", "The mean of a call."),
        column("min_ns", "Min", groups.least(dur), "ns", "The shortest call.", hidden=True),
        column("max_ns", "Max", groups.most(dur), "ns", "The longest call.", hidden=True),
        *_fit_columns(trace, rows, groups),
        column("full_name", "Full name", names, help="As named in the trace.", hidden=True),
    ]  # fmt: skip
    raw = int(events.dur[trace.kind == Kind.KERNEL.value].sum())
    check = Check(name="rows sum to all kernels", got=int(total.sum()), expected=raw, ok=int(total.sum()) == raw)
    return sheet_of("kernels", "Kernels", columns, sort="total_ns", checks=[check], notes=_notes(trace, rows))


def _fit_columns(trace: Trace, rows: Values, groups: Groups) -> list[Filled]:
    """How well the kernels fit the device; means are weighted by time."""
    events = trace.events
    dur = events.dur[rows].astype(float)
    is_core = trace.is_tensor_core[rows]
    first = rows[groups.first]
    stream, registers = events.number("stream")[rows], events.number("registers per thread")[first]
    shared = events.number("shared memory")[first]
    texts = {key: events.text_index(key)[first] for key in ("grid", "block")}
    one_stream = groups.least(stream) == groups.most(stream)
    columns = [
        column("tensor_cores", "TC", is_core[groups.first], "flag", "Whether it ran on tensor cores, by its name."),
        column("occupancy", "Occupancy", _weighted(occupancy(trace, rows), dur, groups), "share",
               "Estimated achieved occupancy: the share of the warps that could be in flight; weighted by time."),
        column("blocks_per_sm", "Blocks per SM", _weighted(events.real("blocks per SM")[rows], dur, groups), "number",
               "Below 1, some of the device's multiprocessors were idle; weighted by time."),
        column("warps_per_sm", "Warps per SM", _weighted(events.real("warps per SM")[rows], dur, groups), "number",
               "Warps in the grid for each multiprocessor; weighted by time.", hidden=True),
        column("registers", "Registers", [v if v >= 0 else None for v in registers.tolist()], "count",
               "Registers of a thread (of the first call).", hidden=True),
        column("shared_memory", "Shared memory", [v if v >= 0 else None for v in shared.tolist()], "bytes",
               "Shared memory of a block (of the first call).", hidden=True),
    ]  # fmt: skip
    for key, found in texts.items():
        shown = [events.texts[i].strip("[]") if i >= 0 else None for i in found.tolist()]
        columns.append(column(key, key.capitalize(), shown, help=f"The {key} of the first call.", hidden=True))
    streams = [str(s) if one else "several" for s, one in zip(stream[groups.first].tolist(), one_stream, strict=True)]
    columns.append(column("stream", "Stream", streams, help="The stream it ran on.", hidden=True))
    return columns


def occupancy(trace: Trace, rows: Values) -> Values:
    """The estimated achieved occupancy of kernels, 0 to 1; unknown where the profiler wrote 0 for one that ran warps.

    (It does for kernels with more shared memory than its estimate knows of.)
    """
    given, warps = trace.events.real("est. achieved occupancy %")[rows], trace.events.real("warps per SM")[rows]
    return np.where((given <= 0) & (warps >= 1), np.nan, given / 100)


def _weighted(values: Values, weights: Values, groups: Groups) -> Values:
    known = ~np.isnan(values)
    top = groups.sums(np.where(known, values * weights, 0.0))
    bottom = groups.sums(np.where(known, weights, 0.0))
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1), np.nan)


def _notes(trace: Trace, rows: Values) -> list[str]:
    loose = trace.device_op[rows] < 0
    if not loose.any():
        return []
    dur = trace.events.dur[rows]
    part = 100 * float(dur[loose].sum()) / float(max(dur.sum(), 1))
    return [f"{part:.1f}% of the kernels' time was launched by no operator in the trace (graphs, other threads)"]


@analysis("kernel-kinds", view="kernels")
def kernel_kinds(trace: Trace) -> Sheet | None:
    """Kernels by the sort of work they do: matrix products, attention, elementwise, communication ..."""
    rows = trace.rows(Kind.KERNEL)
    if not len(rows):
        return None
    events = trace.events
    used = np.unique(events.name[rows])
    kinds = [kernel_kind(events.names[i]) for i in used.tolist()]
    known = sorted(set(kinds))
    code = np.zeros(len(events.names), np.int64)
    code[used] = [known.index(kind) for kind in kinds]
    groups = index_of(code[events.name[rows]], len(known))
    dur = events.dur[rows]
    total = groups.sums(dur)
    on_cores = groups.sums(np.where(trace.is_tensor_core[rows], dur, 0))
    distinct = np.bincount(code[used], minlength=len(known))
    columns = [
        column("kind", "Kind", known, help="The kind of work, by the kernels' names."),
        column("kernels", "Different kernels", distinct, "count", "How many different kernels are of this kind."),
        column("calls", "Calls", groups.counts, "count", "How often kernels of this kind ran.", sums=True),
        column("total_ns", "Total", total, "ns", "Their time on the device.", sums=True),
        column("share", "Share", share(total, float(dur.sum())), "share", "Of the time of all kernels.", sums=True),
        column("mean_ns", "Mean", mean(total, groups.counts), "ns", "The mean of a call."),
        column("tensor_core_share", "Tensor cores", mean(on_cores, total), "share",
               "The share of their time in kernels on tensor cores, by their names."),
    ]  # fmt: skip
    raw = int(dur.sum())
    check = Check(name="kinds sum to all kernels", got=int(total.sum()), expected=raw, ok=int(total.sum()) == raw)
    return sheet_of("kernel-kinds", "Kernels by kind", columns, sort="total_ns", checks=[check])
