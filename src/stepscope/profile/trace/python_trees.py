"""The call trees of a trace's Python: that of the training thread, and those of all others.

Where Stepscope itself was in the process, its calls are taken out: what they called hangs where they were, and their
own time becomes a leaf, so that nobody else has it. What launched the script is left out whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import nearest
from stepscope.profile.trace.calls import Calls, call_tree
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.python_names import Frame, frame_of, is_python_itself
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

_OURS = Frame("Stepscope itself", function="Stepscope itself", ours=True)
_LAUNCHER = "run_as_main"
"""Stepscope's call that runs the script: all above it is ours, click's and runpy's."""


@dataclass(frozen=True)
class PythonTrees:
    training: Calls
    others: Calls
    """Of all other threads."""
    frames: list[Frame]
    """What the labels of the trees mean."""
    ours_ns: int
    """In the training thread: time of Stepscope's own calls."""


def python_trees(trace: Trace) -> PythonTrees | None:
    """The trees; None for a trace without stacks."""
    rows = trace.rows(Kind.PYTHON)
    if not len(rows):
        return None
    frames: dict[Frame, int] = {}
    label = np.full(len(trace.events.names), -1, np.int64)
    for name in np.flatnonzero(np.bincount(trace.events.name[rows])).tolist():
        # Names differ by the address of an object; frames do not.
        label[name] = frames.setdefault(frame_of(trace.events.names[name]), len(frames))
    our_label = len(frames)
    if any(frame.ours for frame in frames):
        frames[_OURS] = our_label
    of_training = trace.events.lane[rows] == _training_lane(trace, rows)
    trees = [_tree(trace, rows[some], label, list(frames), our_label) for some in (of_training, ~of_training)]
    ours = int(trees[0].total_ns[trees[0].label == our_label].sum())
    training, others = (replace(tree, node=tree.node[:0].copy()) for tree in trees)  # which call is where is not asked
    return PythonTrees(training, others, list(frames), ours)


def our_calls(trace: Trace) -> tuple[Ints, Ints]:
    """The rows of Stepscope's own calls, and the time each took itself."""
    rows, calls, _ = _calls(trace)
    found = np.flatnonzero(calls.ours) if calls else np.zeros(0, np.int64)
    return rows[found], calls.own[found] if calls else found


def not_of_the_script(trace: Trace) -> Ints:
    """The rows of Stepscope's own calls, and of what launched the script."""
    rows, calls, launches = _calls(trace)
    return rows[calls.ours | _above(calls.parent, launches)] if calls else rows[:0]


def _calls(trace: Trace) -> tuple[Ints, _Calls | None, Ints]:
    """The rows of all Python calls, the calls (None where Stepscope made none of them), and which launch the script."""
    rows = trace.rows(Kind.PYTHON)
    used = np.flatnonzero(np.bincount(trace.events.name[rows])).tolist() if len(rows) else []
    frames = [frame_of(trace.events.names[name]) for name in used]
    if not any(frame.ours for frame in frames):
        return rows, None, np.zeros(len(rows), bool)
    label = np.full(len(trace.events.names), -1, np.int64)
    label[used] = np.arange(len(used))
    of_row = label[trace.events.name[rows]]
    return rows, _Calls.of(trace, rows, of_row, frames), _launches(frames)[of_row]


def _launches(frames: list[Frame]) -> Ints:
    return np.array([frame.ours and frame.function == _LAUNCHER for frame in frames], bool)


@dataclass(frozen=True)
class _Calls:
    """Python calls with their parents among each other."""

    parent: Ints
    dur: Ints
    own: Ints
    ours: Ints

    @classmethod
    def of(cls, trace: Trace, rows: Ints, label: Ints, frames: list[Frame]) -> _Calls:
        position = np.full(len(trace) + 1, -1, np.int32)
        position[rows] = np.arange(len(rows))
        parent, dur = position[trace.python_parent[rows]], np.maximum(trace.events.dur[rows], 0)
        inner = parent >= 0
        own = np.maximum(dur - np.bincount(parent[inner], dur[inner], len(rows)), 0).astype(np.int64)
        ours = np.array([frame.ours for frame in frames], bool)[label]
        if ours.any():
            is_python = np.array([is_python_itself(frame) for frame in frames])[label]
            ours = _with_helpers(trace, rows, parent, ours, is_python)
        return cls(parent, dur, own, ours)


def _training_lane(trace: Trace, rows: Ints) -> int:
    """Of the threads that run Python, the one with the most operators."""
    calls = np.bincount(trace.events.lane[rows])
    ops = np.bincount(trace.events.lane[trace.rows(Kind.OP)], minlength=len(calls))
    return int(max(np.flatnonzero(calls).tolist(), key=lambda lane: (ops[lane], calls[lane])))


def _tree(trace: Trace, rows: Ints, of_name: Ints, frames: list[Frame], our_label: int) -> Calls:
    label = of_name[trace.events.name[rows]]
    calls = _Calls.of(trace, rows, label, frames)
    parent, dur, own, ours = calls.parent, calls.dur, calls.own, calls.ours
    if not ours.any():
        return call_tree(parent, label, dur)
    above = _above(parent, _launches(frames)[label])
    stays = ~ours & ~above
    outer = np.where(parent >= 0, nearest(parent, stays)[parent], -1)
    keep, leaf = np.flatnonzero(stays), np.flatnonzero(ours & ~above & (outer >= 0))
    place = np.full(len(rows) + 1, -1, np.int64)
    place[keep] = np.arange(len(keep))
    return call_tree(
        np.concatenate([place[outer[keep]], place[outer[leaf]]]),
        np.concatenate([label[keep], np.full(len(leaf), our_label)]),
        np.concatenate([dur[keep], own[leaf]]),
    )


def _with_helpers(trace: Trace, rows: Ints, parent: Ints, ours: Ints, is_python: Ints) -> Ints:
    """Ours, and what of Python itself ours call. A built-in function that runs operators is the user's, wrapped."""
    runs_ops = np.zeros(len(trace) + 1, bool)
    runs_ops[trace.python_parent[trace.rows(Kind.OP)]] = True
    may = is_python & ~runs_ops[rows] & (parent >= 0)
    while True:
        more = may & ~ours & ours[parent]
        if not more.any():
            return ours
        ours = ours | more


def _above(parent: Ints, launches: Ints) -> Ints:
    """A mask: the calls that launch the script and all above them."""
    above = np.zeros(len(parent), bool)
    for row in np.flatnonzero(launches).tolist():
        at = row
        while at >= 0 and not above[at]:
            above[at] = True
            at = int(parent[at])
    return above
