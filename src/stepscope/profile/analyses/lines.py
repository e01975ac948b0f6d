"""The user's own source lines: what each costs on the host, on the device, in backward and in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.kept import kept
from stepscope.profile.memory.placed import lines_in
from stepscope.profile.profile import Profile
from stepscope.profile.trace.call_stacks import stack_lines
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.own_lines import OwnLines
from stepscope.profile.trace.python_trees import our_calls
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet

Ints = npt.NDArray[Any]


@analysis("lines", view="python", of="profile")
def lines(profile: Profile, rank: int = 0) -> Sheet | None:
    """Source lines of your own files, with the libraries' time counted for the line that called them."""
    trace = profile.trace(rank)
    found = kept(profile, rank, lines_in)
    if trace is None:
        return None
    if found is None:
        return _of_texts(trace)
    own, total, calls = _host(trace, found)
    ours = _without_ours(trace, found, own)
    device, device_back, back = _launched(trace, found)
    allocated = _allocated(trace, found)
    roots = found.up < 0
    everything = int(np.maximum(trace.events.dur[found.carriers[roots]], 0).sum())
    has_device = trace.has_device
    rows: list[list[Any]] = [
        [f"{key.file}:{key.line}", key.function, "line" if key.exact else "function", int(calls[i]), int(own[i]),
         int(own[i]) / max(1, everything), int(total[i]), int(device[i]) if has_device else None, int(back[i]),
         int(device_back[i]) if has_device else None, int(allocated[i])]
        for i, key in enumerate(found.keys) if calls[i] or own[i]
    ]  # fmt: skip
    rows.sort(key=lambda row: -row[4])
    summed = int(own.sum()) + ours
    return Sheet(
        id="lines",
        title="Your source lines",
        columns=_columns(has_device, bool(len(trace.memory_rows))),
        rows=rows,
        sort="own_ns",
        checks=[
            Check(
                name="own times sum to the outermost functions of yours",
                got=summed,
                expected=everything,
                ok=abs(summed - everything) <= 0.01 * max(1, everything),
            )
        ],
        notes=_notes(found, ours / max(1, everything)),
    )


def _of_texts(trace: Trace) -> Sheet | None:
    """From stacks that are text at each operator: no time of Python itself, only that of operators."""
    found = stack_lines(trace)
    if found is None:
        return None
    keys, at = found
    size, events = len(keys), trace.events
    top = np.flatnonzero((trace.kind == Kind.OP.value) & (trace.op_parent < 0))
    mine = top[at[top] >= 0]
    host, runs = np.bincount(at[mine], events.dur[mine], size), np.bincount(at[mine], minlength=size)
    work = trace.device_rows[trace.device_op[trace.device_rows] >= 0]
    line = at[trace.device_op[work]]
    device = np.bincount(line[line >= 0], events.dur[work][line >= 0], size)
    whole, covered = int(events.dur[top].sum()), int(host.sum())
    rows: list[list[Any]] = [
        [f"{key.file}:{key.line}", key.function, "line", int(runs[i]), int(host[i]), int(host[i]) / max(1, whole),
         int(host[i]), int(device[i]) if trace.has_device else None, None, None, None]
        for i, key in enumerate(keys)
    ]  # fmt: skip
    return Sheet(
        id="lines",
        title="Your source lines",
        columns=_columns(trace.has_device, False),
        rows=sorted(rows, key=lambda row: -row[4]),
        sort="own_ns",
        notes=[
            f"Stacks are known for {covered / max(1, whole):.0%} of the operators' time. The numbers are of operators; "
            "the Python between them is not in the trace."
        ],
    )


def _host(trace: Trace, found: OwnLines) -> tuple[Ints, Ints, Ints]:
    """By key: own time, total time, calls."""
    size, dur = len(found.keys), np.maximum(trace.events.dur[found.carriers], 0)
    inner = found.up >= 0
    below = np.bincount(found.up[inner], dur[inner], len(dur))
    own = np.bincount(found.key, np.maximum(dur - below, 0), size)
    called = found.caller >= 0
    counted = ~found.repeats
    total = np.bincount(found.caller[called & counted], dur[called & counted], size).astype(np.float64)
    calls = _runs(found.caller[called], trace.events.name[found.carriers[called]], size)
    # Of a function whose lines are not known, the calls it makes are part of itself and no lines.
    whole = np.array([not key.exact for key in found.keys])
    total[whole] = 0
    calls[whole] = 0
    total += np.bincount(found.key[found.is_function & counted], dur[found.is_function & counted], size)
    calls += np.bincount(found.key[found.is_function], minlength=size)
    return own.astype(np.int64), total.astype(np.int64), calls


def _without_ours(trace: Trace, found: OwnLines, own: Ints) -> int:
    """Take the time of Stepscope's own calls out of the lines' own time; how much that was."""
    rows, took = our_calls(trace)
    carrier = found.at[rows]
    inside = carrier >= 0
    own -= np.bincount(found.key[carrier[inside]], took[inside], len(own)).astype(np.int64)
    return int(took[inside].sum())


def _runs(key: Ints, callee: Ints, size: int) -> Ints:
    """How often each line ran: a line may make several calls, so the callee it called most often tells."""
    runs = np.zeros(size, np.int64)
    width = int(callee.max()) + 1 if len(callee) else 1
    pair, count = np.unique(key * width + callee, return_counts=True)
    np.maximum.at(runs, pair // width, count)
    return runs


def _launched(trace: Trace, found: OwnLines) -> tuple[Ints, Ints, Ints]:
    """By key: time on the device of what the line launched, of its backward, and the host time of its backward."""
    size, events = len(found.keys), trace.events
    work = trace.device_rows
    by = np.where(trace.launch[work] >= 0, trace.launch[work], trace.device_op[work])
    op = np.where(by >= 0, np.where(trace.kind[by] == Kind.OP.value, by, trace.op_parent[by]), -1)
    source = np.where(op >= 0, trace.forward_op[op], -1)
    is_back = source >= 0
    forward = _sum(found, np.where(is_back, -1, by), events.dur[work], size)
    backward = _sum(found, source, events.dur[work], size)
    nodes = np.flatnonzero((trace.kind == Kind.OP.value) & (trace.forward_op >= 0) & (trace.op_parent < 0))
    return forward, backward, _sum(found, trace.forward_op[nodes], events.dur[nodes], size)


def _allocated(trace: Trace, found: OwnLines) -> Ints:
    size_of = trace.events.number("Bytes", 0)[trace.memory_rows]
    gained = size_of > 0
    return _sum(found, trace.memory_host[gained], size_of[gained], len(found.keys))


def _sum(found: OwnLines, at: Ints, weights: Ints, size: int) -> Ints:
    """Weights by key of the innermost carrier around the events `at`; -1 is left out."""
    carrier = np.where(at >= 0, found.at[at], -1)
    here = carrier >= 0
    return np.bincount(found.key[carrier[here]], weights[here], size).astype(np.int64)


def _notes(found: OwnLines, ours: float) -> list[str]:
    notes = ["Time in libraries counts toward your line that called them."]
    if ours:
        notes.append(f"Stepscope's own calls took {ours:.1%} of this time; they are in Total, not in Own.")
    if not any(key.exact for key in found.keys):
        notes.append(
            "The trace records where functions begin, not which of their lines ran, so each row is a function."
        )
    elif any(not key.exact for key in found.keys):
        notes.append(
            "A row marked 'function' is what has no call to tell its line by, such as a + b; its line is where the "
            "function begins."
        )
    return notes


def _columns(device: bool, memory: bool) -> list[Column]:
    return [
        Column(key="where", label="Line", unit="line", help="File and line of your own source."),
        Column(key="function", label="Function", help="The function the line is in."),
        Column(key="of", label="Of", help="line: this line · function: the rest of the function that begins here."),
        Column(key="calls", label="Runs", unit="count", help="How often the line ran, or the function was called."),
        Column(
            key="own_ns",
            label="Own",
            unit="ns",
            help="Host time of the line and the libraries it calls, without other lines of yours below it.",
        ),
        Column(key="own_share", label="Own share", unit="share", help="Own time as a part of all time in your code."),
        Column(key="total_ns", label="Total", unit="ns", help="Host time with all that it calls; recursion once."),
        Column(
            key="device_ns",
            label="Device",
            unit="ns",
            help="Time on the device of what the line launched in forward.",
            hidden=not device,
        ),
        Column(
            key="backward_ns",
            label="Backward",
            unit="ns",
            help="Host time, in backward, of the operators this line ran in forward.",
        ),
        Column(
            key="device_backward_ns",
            label="Device backward",
            unit="ns",
            help="Time on the device of that backward.",
            hidden=not device,
        ),
        Column(
            key="allocated_bytes",
            label="Allocated",
            unit="bytes",
            help="Bytes the line allocated, whether kept or freed again.",
            hidden=not memory,
        ),
    ]
