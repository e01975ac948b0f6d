"""Copies and fills of device memory: how much, in which direction, how fast."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, mean, named, share, sheet_of
from stepscope.profile.trace.groups import group
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Sheet

Values = npt.NDArray[Any]

_WAYS = {"htod": "host to device", "dtoh": "device to host", "dtod": "on the device", "ptop": "between devices",
         "htoh": "on the host", "hosttodevice": "host to device", "devicetohost": "device to host",
         "devicetodevice": "on the device"}  # fmt: skip


@analysis("copies", view="kernels")
def copies(trace: Trace) -> Sheet | None:
    """Copies and fills by direction and kind of memory: calls, bytes, bandwidth, and what no kernel hides."""
    rows = trace.rows(Kind.MEMCPY, Kind.MEMSET)
    if not len(rows):
        return None
    events = trace.events
    launcher = np.where(trace.device_op[rows] >= 0, events.name[trace.device_op[rows]].astype(np.int64), -1)
    groups = group(events.name[rows], launcher)
    dur, size = events.dur[rows], events.number("bytes", 0)[rows]
    total, moved = groups.sums(dur), groups.sums(size)
    names = [events.names[i] for i in events.name[rows[groups.first]].tolist()]
    computing = trace.rows(Kind.KERNEL)
    busy = Stretches.union(events.start[computing], events.start[computing] + events.dur[computing])
    exposed = groups.sums(dur - busy.within(events.start[rows], events.start[rows] + dur))
    columns = [
        column("way", "Direction", [direction(name) for name in names], help="Source and destination."),
        column("memory", "Memory", [_memory(name) for name in names],
               help="Pageable host memory needs an extra copy; pinned memory does not."),
        column("operator", "Launched by", named(trace, launcher[groups.first]),
               help="The innermost host operator that requested it."),
        column("calls", "Calls", groups.counts, "count", "How many.", sums=True),
        column("bytes", "Bytes", moved, "bytes", "All of them together.", sums=True),
        column("total_ns", "Total", total, "ns", "Their time on the device.", sums=True),
        column("exposed_ns", "Exposed", exposed, "ns", "The part of it in which no kernel ran.", sums=True),
        column("share", "Share", share(total, float(dur.sum())), "share", "Of the time of all copies and fills."),
        column("mean_bytes", "Mean size", mean(moved, groups.counts), "bytes", "Bytes of one."),
        column("bandwidth", "Per second", np.where(total > 0, moved / np.maximum(total, 1) * 1e9, np.nan), "bytes",
               "Bytes divided by time; small copies are slow because of the fixed cost of each."),
    ]  # fmt: skip
    raw = int(events.dur[rows].sum())
    check = Check(name="rows sum to all copies", got=int(total.sum()), expected=raw, ok=int(total.sum()) == raw)
    return sheet_of("copies", "Copies and fills", columns, sort="total_ns", checks=[check])


def direction(name: str) -> str:
    """From where to where a copy went.

    >>> direction("Memcpy HtoD (Pinned -> Device)"), direction("Memset (Device)"), direction("CopyHostToDevice")
    ('host to device', 'fill', 'host to device')
    """
    lower = name.lower()
    if "memset" in lower or "fill" in lower:
        return "fill"
    found = re.search("|".join(_WAYS), lower)
    return _WAYS[found[0]] if found else name


def _memory(name: str) -> str | None:
    found = re.search(r"\((.*)\)", name)
    return found[1] if found else None
