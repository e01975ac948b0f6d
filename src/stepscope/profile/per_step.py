"""A number for every name and every step: what an operator or a kernel took in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.step_parts import first_is_odd
from stepscope.profile.trace.times import op_times
from stepscope.profile.trace.trace import Trace

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class PerStep:
    names: list[str]
    ns: Numbers
    """A row a step, a column a name."""
    calls: Numbers
    """Of each name, a step."""


def typical_steps(trace: Trace) -> list[int]:
    """The steps to compare: without a first one that is warm-up."""
    walls = [step.wall_ns for step in trace.steps]
    return list(range(1 if first_is_odd(walls) else 0, len(walls)))


def operators_per_step(trace: Trace, *, device: bool) -> PerStep:
    """Self time of operators and named ranges, on the host or on devices."""
    times = op_times(trace)
    values = times.device_self_ns if device else times.self_ns
    keep = trace.kind[times.rows] == Kind.OP.value
    if device:
        keep &= values > 0
    return _table(trace, times.rows[keep], values[keep])


def kernels_per_step(trace: Trace) -> PerStep:
    """Time of kernels, copies and fills on devices."""
    return _table(trace, trace.device_rows, trace.events.dur[trace.device_rows])


def _table(trace: Trace, rows: Numbers, values: Numbers) -> PerStep:
    steps = typical_steps(trace)
    which = np.full(max(len(trace.steps), 1) + 1, -1, np.int64)
    which[steps] = np.arange(len(steps))
    step = which[trace.step_of[rows]]
    rows, values, step = rows[step >= 0], values[step >= 0], step[step >= 0]
    found, column = np.unique(trace.events.name[rows], return_inverse=True)
    shape = (len(steps), len(found))
    flat = step * shape[1] + column
    ns = np.bincount(flat, values, shape[0] * shape[1]).reshape(shape)
    calls = np.bincount(column, minlength=shape[1]) / max(len(steps), 1)
    return PerStep([trace.events.names[at] for at in found.tolist()], ns, calls)
