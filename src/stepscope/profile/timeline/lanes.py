"""What lanes are called, which belong together, and in which order a person wants to see them."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from stepscope.profile.timeline.lines import Lines
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

LaneKind = Literal["host", "device", "worker", "profiler"]

_DEVICE = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET, Kind.DEVICE_ANNOTATION, Kind.SYNC)
_PROFILER = (Kind.TRACE, Kind.OVERHEAD)
_OF_PROFILER = ("", "Spans", "Traces")
"""Processes that torch.profiler makes up for marks of its own."""


class Lane(msgspec.Struct):
    """A thread, a device's stream, or whatever else the trace has as one."""

    id: int
    name: str
    group: int
    """Into `groups`."""
    kind: LaneKind
    events: int
    depths: int
    """How many lines it has."""
    outer: int
    """Which of them has the outermost events; marks stand over it."""
    busy_ns: int
    """How long at least one event was open."""
    quiet: bool = False
    """A thread with Python frames and no operator: mostly one that waits. It is closed at first."""


class LaneGroup(msgspec.Struct):
    """A process or a device."""

    name: str
    kind: LaneKind


def name_lanes(trace: Trace, lines: Lines) -> tuple[list[Lane], list[LaneGroup]]:
    """The lanes that have something to draw, in the order they are shown."""
    ids = np.unique(lines.lane).tolist()
    kinds = {lane: _kind(trace, lines, lane) for lane in ids}
    by_process: dict[str, list[int]] = {}
    for lane in sorted(ids, key=lambda lane: _lane_order(trace, lane)):
        by_process.setdefault("" if kinds[lane] == "profiler" else trace.events.lanes[lane][0], []).append(lane)
    ordered = sorted(by_process.items(), key=lambda one: _group_order(trace, one[0], [kinds[lane] for lane in one[1]]))
    groups = [LaneGroup(name=_group_name(trace, pid, kinds[own[0]]), kind=kinds[own[0]]) for pid, own in ordered]
    has_ops = bool((trace.kind == Kind.OP.value).any())
    lanes = [_lane(trace, lines, lane, at, kinds[lane], has_ops) for at, (_, own) in enumerate(ordered) for lane in own]
    return lanes, groups


def _lane(trace: Trace, lines: Lines, lane: int, group: int, kind: LaneKind, has_ops: bool) -> Lane:
    rows = lines.of_lane(lane)
    first, end = int(lines.first[rows[0]]), int(lines.first[rows[-1] + 1])
    outer = rows[lines.outer[rows]][:1]
    top = slice(int(lines.first[outer[0]]), int(lines.first[outer[0] + 1])) if len(outer) else slice(0, 0)
    return Lane(
        id=lane,
        name=_lane_name(trace, lane, kind),
        group=group,
        kind=kind,
        events=end - first,
        depths=len(rows),
        outer=int(lines.depth[outer[0]]) if len(outer) else 0,
        busy_ns=int(lines.dur[top].sum()),
        quiet=has_ops and bool((trace.kind[lines.row[first:end]] == Kind.PYTHON.value).all()),
    )


def _kind(trace: Trace, lines: Lines, lane: int) -> LaneKind:
    rows = lines.of_lane(lane)
    seen = trace.kind[lines.row[int(lines.first[rows[0]]) : int(lines.first[rows[-1] + 1])]]
    kind = int(np.bincount(seen).argmax())
    if kind in _DEVICE:
        return "device"
    if kind in _PROFILER or (kind == Kind.OTHER.value and trace.events.lanes[lane][0] in _OF_PROFILER):
        return "profiler"
    return "worker" if kind == Kind.DATA.value else "host"


def _sort(trace: Trace, lane: str) -> int | None:
    said = trace.events.lane_names.get(f"{lane} sort", "")
    return int(said) if said.lstrip("-").isdecimal() else None


def _natural(text: str) -> tuple[int, str]:
    """9 before 10, and numbers before words."""
    return (int(text), "") if text.lstrip("-").isdecimal() else (1 << 62, text)


def _lane_order(trace: Trace, lane: int) -> tuple[bool, bool, int, tuple[int, str]]:
    """The main thread first (its number is the process's), then as the trace says, then by name."""
    pid, tid = trace.events.lanes[lane]
    said = _sort(trace, f"{pid}/{tid}")
    return pid != tid, said is None, said or 0, _natural(tid)


_ORDER = {"host": 0, "device": 1, "worker": 2, "profiler": 3}


def _group_order(trace: Trace, pid: str, kinds: list[LaneKind]) -> tuple[int, bool, int, tuple[int, str]]:
    said = _sort(trace, pid)
    return min(_ORDER[kind] for kind in kinds), said is None, said or 0, _natural(pid)


def _group_name(trace: Trace, pid: str, kind: LaneKind) -> str:
    names = trace.events.lane_names
    name, label = names.get(pid, "").strip(), names.get(f"{pid} labels", "").strip()
    if kind == "device":
        return label or name or f"Device {pid}"
    if kind == "profiler":
        return "Marks of the profiler"
    if not pid:
        return name or "Events without a process"
    what = "Loader worker" if kind == "worker" else name or "Process"
    return f"{what} {pid}" if pid.isdecimal() else what if name else pid


def _lane_name(trace: Trace, lane: int, kind: LaneKind) -> str:
    pid, tid = trace.events.lanes[lane]
    said = trace.events.lane_names.get(f"{pid}/{tid}", "").strip()
    if said:
        return said[:1].upper() + said[1:]
    if not tid:
        return "Events without a thread"
    if not tid.lstrip("-").isdecimal():
        return tid
    return f"Stream {tid}" if kind == "device" else "Main thread" if tid == pid else f"Thread {tid}"
