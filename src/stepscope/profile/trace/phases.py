"""Data, host-to-device, forward, backward, optimizer: when each was active, from our own rows or from what ran.

Our collectors record phases as they are. In other traces they are found on the training thread: each operator there
belongs to a phase, and a run of operators of one phase is a stretch of it, with the Python between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.ranges import BACKWARD, data_rows, is_optimizer, is_step_mark
from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]

PHASES = ("data", "h2d", "optimizer", "backward", "forward")
"""In the order in which they win where two are active at once."""
_REDUCER = "torch.distributed.ddp.reducer::"
_DATA, _H2D, _OPTIMIZER, _BACKWARD, _FORWARD, _NONE = range(6)


def phase_stretches(trace: Trace) -> tuple[dict[str, Stretches], bool]:
    """When each phase was active; and whether that was recorded (or else found from what ran)."""
    events = trace.events
    ours = trace.rows(Kind.PHASE)
    if len(ours):
        found = {}
        for phase in PHASES:
            number = events.name_index.get(phase, -1)
            rows = ours[events.name[ours] == number]
            found[phase] = Stretches.union(events.start[rows], events.start[rows] + events.dur[rows])
        return found, True
    return _inferred(trace), False


def training_lane(trace: Trace) -> int:
    """The thread of the training loop: the one with the step marks, else the one with most outer operators."""
    events = trace.events
    marks = events.named(is_step_mark) & (trace.kind == Kind.ANNOTATION.value)
    if not marks.any():
        marks = (trace.kind == Kind.OP.value) & (trace.op_parent < 0)
        going_back = events.named(lambda name: name.startswith(BACKWARD))
        marks = marks & ~going_back if (marks & ~going_back).any() else marks
    rows = np.flatnonzero(marks)
    return int(np.bincount(events.lane[rows]).argmax()) if len(rows) else 0


def _inferred(trace: Trace) -> dict[str, Stretches]:
    begin, end, label = _labelled(trace)
    if not len(begin):
        return {phase: Stretches.union(begin, end) for phase in PHASES}
    order = np.argsort(begin, kind="stable")
    begin, end, label = begin[order], end[order], label[order]
    label = _only_before_backward(trace, begin, label)
    # One stretch for each run of the same phase, if it does not reach from one step into the next.
    steps = np.array([step.begin_ns for step in trace.steps], np.int64)
    step = np.searchsorted(steps, begin, side="right")
    fresh = np.ones(len(begin), bool)
    fresh[1:] = (label[1:] != label[:-1]) | (step[1:] != step[:-1])
    first = np.flatnonzero(fresh)
    reach = np.maximum.reduceat(end, first)
    return {
        phase: Stretches.union(begin[first][label[first] == n], reach[label[first] == n])
        for n, phase in enumerate(PHASES)
    }


def _labelled(trace: Trace) -> tuple[Rows, Rows, Rows]:
    """Outer operators of the training thread and nodes of backward of any thread, each with its phase."""
    events, kind = trace.events, trace.kind
    lane = training_lane(trace)
    is_node = events.named(lambda name: name.startswith((BACKWARD, _REDUCER))) & (kind == Kind.OP.value)
    # A thread of the autograd engine does nothing but backward (and the reduction of gradients at its end).
    engine = np.zeros(len(events.lanes), bool)
    engine[events.lane[is_node]] = True
    engine[lane] = False
    elsewhere = np.flatnonzero((kind == Kind.OP.value) & (trace.op_parent < 0) & engine[events.lane])
    optimizing = np.flatnonzero(events.named(is_optimizer) & (kind == Kind.ANNOTATION.value))
    loading = data_rows(trace)
    outer = np.flatnonzero((kind == Kind.OP.value) & (trace.op_parent < 0) & (events.lane == lane))
    label = np.full(len(outer), _FORWARD, np.int8)
    label[is_node[outer]] = _BACKWARD
    label[np.searchsorted(outer, _moving(trace, lane))] = _H2D
    for rows, phase in ((optimizing, _OPTIMIZER), (loading, _DATA)):
        spans = Stretches.union(events.start[rows], events.start[rows] + events.dur[rows])
        label[spans.holds(events.start[outer]) >= 0] = phase
    rows = np.concatenate([outer, elsewhere, optimizing, loading])
    labels = np.concatenate(
        [label, *(np.full(len(r), n, np.int8) for r, n in
                  ((elsewhere, _BACKWARD), (optimizing, _OPTIMIZER), (loading, _DATA)))]
    )  # fmt: skip
    return events.start[rows], events.start[rows] + events.dur[rows], labels


def _moving(trace: Trace, lane: int) -> Rows:
    """The outer operators of a thread that copied something from the host to a device."""
    copies = trace.rows(Kind.MEMCPY)
    if not len(copies):
        return copies
    copies = copies[trace.events.named(lambda name: "HtoD" in name or "H2D" in name)[copies]]
    at = trace.device_op[copies]
    at = np.unique(at[at >= 0])
    up = trace.op_parent
    while (up[at] >= 0).any():
        at = np.unique(np.where(up[at] >= 0, up[at], at))
    names = {"aten::to", "aten::_to_copy", "aten::copy_", "aten::cuda", "aten::pin_memory"}
    return np.asarray(at[trace.events.named(names.__contains__)[at] & (trace.events.lane[at] == lane)])


def _only_before_backward(trace: Trace, begin: Rows, label: Rows) -> Rows:
    """Operators without a later backward in the step (metrics, logging) are not the forward, if it has a backward."""
    nodes = begin[label == _BACKWARD]
    if not len(nodes):
        return label
    ends = np.array([step.end_ns for step in trace.steps], np.int64)
    step_end = ends[np.minimum(np.searchsorted(ends, begin, side="right"), len(ends) - 1)]
    following = np.searchsorted(nodes, begin)
    until = np.append(nodes, np.iinfo(np.int64).max)[following]
    return np.where((label == _FORWARD) & (until >= step_end), _NONE, label)
