"""The arithmetic of a whole trace: what each operator computed, in which dtype, in how much time, against the peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import next_above
from stepscope.profile.trace.devices import devices_of
from stepscope.profile.trace.flop_formulas import FALLBACK, PLAIN, WHOLE, flops_of
from stepscope.profile.trace.groups import group
from stepscope.profile.trace.kernel_names import kernel_kind
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.peaks import peak_flops
from stepscope.profile.trace.shape_texts import types_of
from stepscope.profile.trace.trace import Trace

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Arithmetic:
    """The operators that compute, in the order of `rows`."""

    rows: Values
    flops: Values
    """float64; NaN where it cannot be told from what the trace says."""
    dtype: tuple[str, ...]
    """What the products were computed in: tf32 for float32 on tensor cores. "" where the trace gives no types."""
    time_ns: Values
    """On the device what it launched; on the host, where nothing was launched, what it took."""
    loose_share: float
    """Of the time of kernels that look like products, the share that none of these operators launched."""


def arithmetic(trace: Trace) -> Arithmetic | None:
    """What every operator computed; None without recorded shapes."""
    return trace.once(_arithmetic)


def _arithmetic(trace: Trace) -> Arithmetic | None:
    events = trace.events
    if "Input Dims" not in events.args:
        return None
    rows = _counted(trace)
    if not len(rows):
        return None
    dims, concrete = events.text_index("Input Dims")[rows], events.text_index("Concrete Inputs")[rows]
    types = events.text_index("Input type")[rows]
    name = events.name[rows]
    groups = group(name, dims, concrete, types)
    first = groups.first
    texts = (*events.texts, "")  # index -1 is the empty text
    known = [
        flops_of(events.names[n], texts[d], texts[c])
        for n, d, c in zip(name[first].tolist(), dims[first].tolist(), concrete[first].tolist(), strict=True)
    ]
    flops = np.array([np.nan if one is None else float(one) for one in known])[groups.number]
    dtypes = [next((one for one in types_of(texts[t]) if one), "") for t in types[first].tolist()]
    device, on_cores, loose = _device_time(trace, rows)
    time = np.where(device > 0, device, 0 if trace.has_device else events.dur[rows])
    is_tf32 = 2 * on_cores > np.maximum(device, 1)
    dtype = tuple(
        "tf32" if tf32 and dtypes[n] == "float32" else dtypes[n]
        for n, tf32 in zip(groups.number.tolist(), is_tf32.tolist(), strict=True)
    )
    return Arithmetic(rows, flops, dtype, time, loose)


def _counted(trace: Trace) -> Values:
    """The operators to count, so that nothing is counted twice: see flop_formulas for the three sorts."""
    named, is_op = trace.events.named, trace.kind == Kind.OP.value
    whole, plain, fallback = (named(sort.__contains__) & is_op for sort in (WHOLE, PLAIN, FALLBACK))
    up = trace.op_parent
    compiling = named(lambda name: name == "dynamo" or name.endswith("(dynamo_timed)")) & is_op
    # What lies in a whole is counted with it; what a compiler tries on tensors without data is not arithmetic.
    rows = np.flatnonzero(whole | plain | fallback)
    rows = rows[next_above(up, rows, whole | compiling) < 0]
    # A product can lie in itself, where modes of dispatch are on: the innermost is the one that ran.
    holders = next_above(up, rows, fallback | plain)
    is_holder = np.zeros(len(trace), bool)
    is_holder[holders[holders >= 0]] = True
    return np.asarray(rows[~is_holder[rows]])


def _device_time(trace: Trace, rows: Values) -> tuple[Values, Values, float]:
    """Of each of these operators the time of the work it launched, in all and on tensor cores; and the loose share."""
    work = trace.device_rows
    if not len(work):
        return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64), 0.0
    counted = np.zeros(len(trace), bool)
    counted[rows] = True
    place = np.full(len(trace) + 1, -1, np.int64)  # the last means none
    place[rows] = np.arange(len(rows))
    op = trace.device_op[work]
    above = next_above(trace.op_parent, np.maximum(op, 0), counted)
    owner = np.where(op >= 0, place[np.where(counted[op], op, above)], -1)
    mine = owner >= 0
    dur = trace.events.dur[work]
    core = mine & trace.is_tensor_core[work]
    products = _are_products(trace, work)
    loose = float(dur[products & ~mine].sum()) / max(float(dur[products].sum()), 1.0)
    return (
        np.bincount(owner[mine], dur[mine], len(rows)).astype(np.int64),
        np.bincount(owner[core], dur[core], len(rows)).astype(np.int64),
        loose,
    )


def _are_products(trace: Trace, work: Values) -> Values:
    """A mask: kernels that multiply matrices, by their names."""
    names = trace.events.name[work]
    used = np.unique(names)
    sorts = np.zeros(len(trace.events.names), bool)
    sorts[used] = [kernel_kind(trace.events.names[i]) in {"gemm", "convolution", "attention"} for i in used.tolist()]
    return np.asarray(sorts[names] & (trace.kind[work] == Kind.KERNEL.value))


def ideal_seconds(device: str, flops: Values, dtypes: tuple[str, ...]) -> Values:
    """The least time this much arithmetic can take on a device; NaN where its peak is not known."""
    peaks = {dtype: peak_flops(device, dtype) for dtype in set(dtypes)}
    return np.asarray(flops / np.array([peaks[dtype] or np.nan for dtype in dtypes]))


def model_flops_utilisation(trace: Trace) -> float | None:
    """MFU: the least time the steps' products could take on the devices, as a share of the time steps usually take."""
    found = arithmetic(trace)
    if found is None or not trace.steps or not trace.has_device:
        return None
    devices = devices_of(trace)
    name = str(devices.properties[0].get("name", ""))
    inside = trace.step_of[found.rows] >= 0
    ideal = ideal_seconds(name, found.flops, found.dtype)[inside]
    if np.isnan(ideal).all():
        return None
    seconds = sum(step.wall_ns for step in trace.device_steps) / 1e9 / trace.slowdown
    return float(np.nansum(ideal)) / seconds / len(devices.numbers)
