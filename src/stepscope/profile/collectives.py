"""The collectives of a trace: which, how many bytes, from when to when, and which of another rank is the same one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

_SPAN = re.compile(r"^(?:gloo|nccl|mpi|ucc|xccl|hccl|rccl):_?(\w+)$")
_KERNEL = re.compile(r"ccl(?:Dev)?Kernel_(AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|SendRecv|AllToAll)", re.I)
_KINDS = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "alltoall": "all_to_all",
    "alltoallv": "all_to_all", "allgatherbase": "all_gather", "reducescatterbase": "reduce_scatter",
    "allgatherintotensorcoalesced": "all_gather", "reducescattertensorcoalesced": "reduce_scatter",
    "alltoallbase": "all_to_all", "sendrecv": "send_recv", "broadcast": "broadcast", "reduce": "reduce", "send": "send",
    "recv": "recv", "gather": "gather", "scatter": "scatter", "barrier": "barrier",
}  # fmt: skip
_BYTES = {
    "double": 8, "long": 8, "int64": 8, "complexfloat": 8, "float": 4, "int": 4, "half": 2, "bfloat16": 2, "short": 2,
    "c10::half": 2, "c10::bfloat16": 2, "long int": 8, "char": 1, "byte": 1, "bool": 1, "signed char": 1,
    "unsigned char": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Collectives:
    """Those of one rank, in the order they ended."""

    rows: Ints
    start: Ints
    end: Ints
    kind: list[str]
    bytes: Ints
    """-1: unknown"""
    group: list[str]
    group_size: Ints
    step: list[int]
    """The number of the step each belongs to; -1 outside of steps."""
    on_device: bool

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dur(self) -> Ints:
        return self.end - self.start


def collectives_of(trace: Trace) -> Collectives:
    """By the kernels on the device; without those by the spans that backends on the host write (gloo, mpi)."""
    device = np.flatnonzero(trace.is_collective)
    on_device = len(device) > 0
    carried = trace.events.named(_SPAN.match) & (trace.kind == Kind.ANNOTATION.value) & ~trace.is_alone
    rows = device if on_device else np.flatnonzero(carried)
    events = trace.events
    rows = rows[np.argsort(events.end_of(rows), kind="stable")]
    numbers = [step.number for step in trace.steps]
    steps = [numbers[at] if at >= 0 else -1 for at in trace.step_of[rows].tolist()]
    sizes = events.number("Group size")[rows]
    groups = events.text_index("Process Group Name")[rows]
    if not on_device:
        sizes = np.where(sizes > 0, sizes, trace.world)
    return Collectives(
        rows=rows,
        start=events.start[rows],
        end=events.end_of(rows),
        kind=_kinds(trace, rows),
        bytes=np.array([_bytes(trace, row) for row in rows.tolist()], np.int64),
        group=[events.texts[at] if at >= 0 else "" for at in groups.tolist()],
        group_size=sizes,
        step=steps,
        on_device=on_device,
    )


def _kinds(trace: Trace, rows: Ints) -> list[str]:
    events = trace.events
    said = events.text_index("Collective name")[rows].tolist()
    names = [events.names[at] for at in events.name[rows].tolist()]
    found = zip(rows.tolist(), names, said, strict=True)
    return [_kind(trace, row, name, "" if at < 0 else events.texts[at]) for row, name, at in found]


def _kind(trace: Trace, row: int, name: str, said: str) -> str:
    span = _SPAN.match(name)
    if span is not None:
        said = span[1]
    elif not said:  # a kernel: the span around its launch says it better than its name (all_to_all is SendRecv)
        in_name = _KERNEL.search(name)
        said = _span_above(trace, row) or (in_name[1] if in_name else "other")
    return _KINDS.get(said.lower().replace("_", ""), said)


def _span_above(trace: Trace, row: int) -> str:
    at = int(trace.launch[row])
    while at >= 0:
        found = _SPAN.match(trace.events.names[trace.events.name[at]])
        if found:
            return found[1]
        at = int(trace.parent[at])
    return ""


def _bytes(trace: Trace, row: int) -> int:
    """What one rank puts in or gets out, whichever is more: the size all bandwidths are reckoned with."""
    said = trace.events.arguments(row)
    elements = max(int(said.get("In msg nelems", -1)), int(said.get("Out msg nelems", -1)))
    if elements >= 0 and "dtype" in said:
        size = _BYTES.get(str(said["dtype"]).lower())
        return -1 if size is None else elements * size
    return _bytes_of_inputs(said)


def _bytes_of_inputs(said: dict[str, Any]) -> int:
    try:
        dims, types = json.loads(said.get("Input Dims", "[]")), json.loads(said.get("Input type", "[]"))
    except ValueError:
        return -1
    total = 0
    for shape, dtype in zip(dims, types, strict=False):
        size = _BYTES.get(str(dtype).lower())
        if size is not None and all(isinstance(n, int) for n in shape):
            total += size * int(np.prod(shape, dtype=np.int64))
    return total or -1


def bus_factor(kind: str, ranks: int) -> float:
    """What the size of a collective is multiplied with to get the bytes each link carries (as NCCL's own tests do).

    >>> bus_factor("all_reduce", 2), bus_factor("all_gather", 4), bus_factor("broadcast", 8)
    (1.0, 0.75, 1.0)
    """
    if ranks < 2:
        return 1.0
    if kind == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if kind in ("all_gather", "reduce_scatter", "all_to_all"):
        return (ranks - 1) / ranks
    return 1.0


def matched(ranks: dict[int, Collectives]) -> list[dict[int, int]]:
    """The same collective on several ranks: position in each rank's columns. By step, group, kind and turn."""
    seen: dict[tuple[Any, ...], dict[int, int]] = {}
    for rank, found in ranks.items():
        turns: dict[tuple[Any, ...], int] = {}
        for at, key in enumerate(zip(found.step, found.group, found.kind, strict=True)):
            turn = turns[key] = turns.get(key, -1) + 1
            seen.setdefault((*key, turn), {})[rank] = at
    return [places for places in seen.values() if len(places) > 1]
