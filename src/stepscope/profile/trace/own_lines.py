"""The user's own line each event belongs to, looking through library code to the line that called it.

A *carrier* is a Python call that gives a line its events: a function of the user's own (for what it does itself), or
the first library call below one (for the line it was called from). Every event has at most one innermost carrier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import nearest, nearest_above
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.library import take_or
from stepscope.profile.trace.python_names import Frame, frame_of
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

_MOST_NTH = 64
"""How many calls of one name inside one call of their caller are told apart."""


@dataclass(frozen=True)
class LineKey:
    file: str
    line: int
    function: str
    exact: bool
    """The line of a call; else the line where the function begins, standing for all of it that has no line."""


@dataclass(frozen=True)
class OwnLines:
    keys: list[LineKey]
    carriers: Ints
    """Rows of the carriers."""
    is_function: Ints
    """For each carrier: whether it is a function of the user's own."""
    key: Ints
    """For each carrier: the key of its own events."""
    caller: Ints
    """For each carrier: the key of the line that called it, -1 where no line of the user did."""
    up: Ints
    """For each carrier: the position of the carrier around it, or -1."""
    repeats: Ints
    """For each carrier: whether its function is below itself already, so that totals count it once."""
    at: Ints
    """For each event of the trace: the position of its innermost carrier, or -1."""


def own_lines(trace: Trace, facts: Mapping[str, Any]) -> OwnLines | None:
    """The user's lines of a trace with stacks; None where there are none. Kept with the trace: several ask."""
    kept = trace.__dict__.get("own_lines")
    if kept is None or kept[0] != facts.get("call_lines"):
        kept = trace.__dict__["own_lines"] = (facts.get("call_lines"), _own_lines(trace, facts))
    found: OwnLines | None = kept[1]
    return found


def _own_lines(trace: Trace, facts: Mapping[str, Any]) -> OwnLines | None:
    rows = trace.rows(Kind.PYTHON)
    if not len(rows):
        return None
    frames: dict[int, Frame] = {i: frame_of(trace.events.names[i]) for i in _used(trace.events.name[rows])}
    own_names = np.array([i for i, frame in frames.items() if frame.own], np.int64)
    is_own = (trace.kind == Kind.PYTHON.value) & trace.events.has_name(own_names)
    if not is_own.any():
        return None
    above = trace.python_parent
    lines = _call_lines(facts)
    called = np.zeros(len(trace), bool)
    if lines:
        called[rows] = (above[rows] >= 0) & is_own[above[rows]]
    is_carrier = is_own | called
    carriers = np.flatnonzero(is_carrier)
    position = np.full(len(trace) + 1, -1, np.int32)
    position[carriers] = np.arange(len(carriers))
    inside = nearest(trace.parent, is_carrier)
    keys, key, caller = _keys(trace, carriers, is_own, frames, lines)
    up = trace.parent[carriers]
    return OwnLines(
        keys=keys,
        carriers=carriers,
        is_function=is_own[carriers],
        key=key,
        caller=caller,
        up=np.where(up >= 0, position[inside[up]], -1),
        repeats=_repeats(trace, carriers, is_own)[position[inside[carriers]]],
        at=take_or(position, inside),
    )


def _used(names: Ints) -> list[int]:
    """The distinct ones; counting is faster than sorting, since names are small numbers."""
    found: list[int] = np.flatnonzero(np.bincount(names)).tolist()
    return found


def _call_lines(facts: Mapping[str, Any]) -> dict[str, dict[str, list[int]]]:
    found = facts.get("call_lines")
    return found if isinstance(found, dict) else {}


def _keys(
    trace: Trace, carriers: Ints, is_own: Ints, frames: dict[int, Frame], lines: dict[str, dict[str, list[int]]]
) -> tuple[list[LineKey], Ints, Ints]:
    """The keys, and for each carrier that of its own events and that of the line that called it."""
    names, name = trace.events.names, trace.events.name
    index: dict[LineKey, int] = {}
    whole: dict[int, int] = {}

    def of_function(which: int) -> int:
        if which not in whole:
            frame = frames[which]
            # A module that was running already has the line it was at, not the one it begins with.
            line = 1 if frame.function == "<module>" else frame.line
            whole[which] = index.setdefault(LineKey(frame.file, line, frame.function, False), len(index))
        return whole[which]

    above, mine = trace.python_parent[carriers], name[carriers].astype(np.int64)
    has_caller = (above >= 0) & is_own[above]
    width = len(names)
    nth = np.minimum(_occurrence(above, mine), _MOST_NTH - 1)
    call = (name[above[has_caller]].astype(np.int64) * width + mine[has_caller]) * _MOST_NTH + nth[has_caller]
    distinct, place = np.unique(call, return_inverse=True)
    made = []
    for one in distinct.tolist():
        (by, callee), at = divmod(one // _MOST_NTH, width), one % _MOST_NTH
        line = _line_of(lines, names[by], names[callee], at)
        frame = frames[by]
        exact = LineKey(frame.file, line or 0, frame.function, True)
        made.append(of_function(by) if line is None else index.setdefault(exact, len(index)))
    caller = np.full(len(carriers), -1, np.int64)
    caller[has_caller] = np.array(made, np.int64)[place]
    key = caller.copy()
    own = is_own[carriers]
    functions, place = np.unique(mine[own], return_inverse=True)
    key[own] = np.array([of_function(one) for one in functions.tolist()], np.int64)[place]
    return list(index), key, caller


def _line_of(lines: dict[str, dict[str, list[int]]], caller: str, callee: str, nth: int) -> int | None:
    known = lines.get(caller, {}).get(callee)
    if not known:
        return None
    if len(known) == 1:
        return known[0]
    return known[nth] if nth < len(known) else None


def _occurrence(parent: Ints, name: Ints) -> Ints:
    """The how-manieth call of that name inside its parent each one is; rows come in the order of time within one."""
    nth = np.zeros(len(parent), np.int64)
    if not len(parent):
        return nth
    order = np.lexsort((name, parent))
    new = np.ones(len(order), bool)
    new[1:] = (parent[order][1:] != parent[order][:-1]) | (name[order][1:] != name[order][:-1])
    place = np.arange(len(order))
    nth[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return nth


def _repeats(trace: Trace, carriers: Ints, is_own: Ints) -> Ints:
    """For each carrier whether the function of the user's it is (or was called from) is open below itself."""
    name = trace.events.name
    parent = nearest_above(trace.parent, is_own)
    mine = np.where(is_own[carriers], carriers, trace.python_parent[carriers])
    repeats = np.zeros(len(carriers), bool)
    cursor = parent[mine]
    for _ in range(200):
        if not (cursor >= 0).any():
            break
        repeats |= (cursor >= 0) & (name[cursor] == name[mine])
        cursor = np.where(cursor >= 0, parent[cursor], -1)
    return repeats
