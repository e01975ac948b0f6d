"""The devices of a trace: what ran on each, and what the trace says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class Devices:
    numbers: list[int]
    rows: list[Rows]
    """Of each device, its kernels, copies and fills."""
    properties: list[dict[str, Any]]
    """Of each device what `deviceProperties` says: name, numSms, totalGlobalMem, computeMajor ..."""


def devices_of(trace: Trace) -> Devices:
    """Devices in order of their number; work that says no device is counted to the number of its lane, else to 0."""
    return trace.once(_devices)


def _devices(trace: Trace) -> Devices:
    work = trace.device_rows
    number = device_numbers(trace)
    found = np.unique(number).tolist()
    listed = trace.events.header.fields.get("deviceProperties")
    given = listed if isinstance(listed, list) else []
    known = {one.get("id"): one for one in given if isinstance(one, dict)}
    return Devices(found, [work[number == one] for one in found], [known.get(one, {}) for one in found])


def device_numbers(trace: Trace) -> Rows:
    """Of each of `trace.device_rows` the device it ran on."""
    work, events = trace.device_rows, trace.events
    number = events.number("device")[work]
    missing = number < 0
    if missing.any():
        lanes = np.array([_lane_number(pid) for pid, _ in events.lanes], np.int64)
        number[missing] = lanes[events.lane[work[missing]]]
    return number


def _lane_number(pid: str) -> int:
    found = re.fullmatch(r"(?:GPU|XPU|device)?\s*(\d{1,3})", pid.strip(), re.I)
    return int(found[1]) if found else 0


def window(trace: Trace) -> tuple[int, int]:
    """From the beginning of the first step to the end of the last, on the device."""
    steps = trace.device_steps
    return (steps[0].begin_ns, steps[-1].end_ns) if steps else (trace.begin_ns, trace.end_ns)
