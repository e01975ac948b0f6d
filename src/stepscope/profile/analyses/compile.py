"""What `torch.compile` did: time spent compiling, recompilations, graph breaks, and which regions ran."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.trace.ancestors import next_above
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.times import op_times
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Column, Sheet

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

Values = npt.NDArray[Any]

_REGION = re.compile(r"^Torch-Compiled Region:?\s*(?:!?\d+/)?(\d+)/(\d+)")
_COMPILED = re.compile(r"^dynamo_data: compile_id=(?:!?\d+/)?(\d+)/(\d+)")
_COMPILING = ("dynamo", "_compile.compile_inner (dynamo_timed)", "_compile.compile_inner", "entire_frame_compile")


@analysis("compile", view="operators", of="profile")
def compiled(profile: Profile, rank: int = 0) -> Sheet | None:
    """torch.compile: every compiled region, how often it ran, was compiled again, broke, and what compiling cost."""
    trace = profile.trace(rank)
    facts = profile.facts(rank).get("compile")
    facts = facts if isinstance(facts, dict) and facts.get("used") else {}
    rows, notes = ([], []) if trace is None else _regions(trace)
    notes += _from_facts(facts)
    if not rows and not notes:
        return None
    return Sheet(
        id="compile",
        title="torch.compile",
        columns=[
            Column(key="region", label="Region", help="A compiled region of Python: dynamo's number for its frame."),
            Column(key="calls", label="Calls", unit="count", help="How often its compiled code ran.", sums=True),
            Column(key="versions", label="Versions", unit="count",
                   help="How many versions of it are in the trace; more than one means it was recompiled."),
            Column(key="compiles", label="Compiled", unit="count", help="How often it was compiled within the trace.",
                   sums=True),
            Column(key="compile_ns", label="Compiling", unit="ns", help="Time spent compiling it within the trace.",
                   sums=True),
            Column(key="after_break", label="After a break", unit="count",
                   help="Calls from inside another region: code after a graph break (or an inner compiled call).",
                   sums=True),
            Column(key="host_ns", label="Host", unit="ns", help="Host time of its calls, without compilation."),
            Column(key="device_ns", label="Device", unit="ns", help="Time of the kernels its calls launched."),
        ],
        rows=sorted(rows, key=lambda row: -(row[4] + row[6])),
        sort="",
        notes=notes,
    )  # fmt: skip


def _matches(trace: Trace, pattern: re.Pattern[str]) -> tuple[Values, Values, Values]:
    """Rows whose name fits, with its two numbers."""
    events = trace.events
    found = {i: (int(m[1]), int(m[2])) for i, name in enumerate(events.names) if (m := pattern.match(name))}
    spans = op_times(trace).rows
    rows = spans[np.isin(events.name[spans], list(found))] if found else spans[:0]
    numbers = np.array([found[i] for i in events.name[rows].tolist()], np.int64).reshape(-1, 2)
    return rows, numbers[:, 0], numbers[:, 1]


def _regions(trace: Trace) -> tuple[list[list[Any]], list[str]]:
    events = trace.events
    rows, frame, version = _matches(trace, _REGION)
    compiling = _compiling_rows(trace)
    made, made_frame, made_version = _compiles(trace, compiling)
    inside = np.zeros(len(trace), bool)
    inside[rows] = True
    up = trace.op_parent
    above = next_above(up, rows, inside)
    times = op_times(trace)
    within = _compile_inside(trace, rows, compiling)
    table = []
    for one in np.unique(np.concatenate([frame, made_frame])).tolist():
        mine, his = frame == one, made_frame == one
        places = times.place[rows[mine]]
        table.append([
            f"{one}", int(mine.sum()), len(np.unique(np.concatenate([version[mine], made_version[his]]))),
            int(his.sum()), int(events.dur[made[his]].sum()), int((above[mine] >= 0).sum()),
            int((events.dur[rows[mine]] - within[mine]).sum()), int(times.device_ns[places].sum()),
        ])  # fmt: skip
    return table, _trace_notes(trace, made, made_version, compiling, rows, above)


def _compiling_rows(trace: Trace) -> Values:
    """The outermost spans in which something was compiled, by whichever of dynamo's marks this version has."""
    spans = op_times(trace).rows
    is_one = np.zeros(len(trace), bool)
    is_one[spans] = (trace.events.named(set(_COMPILING).__contains__) & (trace.kind == Kind.OP.value))[spans]
    rows = np.flatnonzero(is_one)
    return np.asarray(rows[next_above(trace.op_parent, rows, is_one) < 0])


def _compiles(trace: Trace, compiling: Values) -> tuple[Values, Values, Values]:
    """Each compilation with the region it made: the mark with its number lies inside it."""
    marks, frame, version = _matches(trace, _COMPILED)
    if not len(marks) or not len(compiling):
        return compiling[:0], frame[:0], version[:0]
    order = compiling[np.argsort(trace.events.start[compiling], kind="stable")]
    at = np.searchsorted(trace.events.start[order], trace.events.start[marks], side="right") - 1
    hit = (at >= 0) & (trace.events.start[marks] < trace.events.end_of(order[np.maximum(at, 0)]))
    return order[at[hit]], frame[hit], version[hit]


def _compile_inside(trace: Trace, rows: Values, compiling: Values) -> Values:
    """Of each call the time of compiling that went on within it (of what follows a break)."""
    from stepscope.profile.trace.intervals import Stretches

    start, stop = trace.events.start, trace.events.end_of
    return Stretches.union(start[compiling], stop(compiling)).within(start[rows], stop(rows))


def _trace_notes(
    trace: Trace, made: Values, made_version: Values, compiling: Values, rows: Values, above: Values
) -> list[str]:
    notes = []
    if len(compiling):
        again = int((made_version > 0).sum())
        spent = int(trace.events.dur[compiling].sum())
        notes.append(f"{len(compiling)} compilations within the trace took {spent / 1e9:.2f} s"
                     + (f"; {again} of them compiled a region again" if again else ""))  # fmt: skip
    steps = len(trace.steps)
    if len(rows) and (above >= 0).any() and steps:
        notes.append(f"{(above >= 0).sum() / steps:.1f} times per step a compiled region was left and reentered: "
                     "graph breaks")  # fmt: skip
    fused = trace.rows(Kind.KERNEL)
    fused = fused[trace.events.named(lambda name: name.startswith("triton_"))[fused]]
    if len(fused):
        all_kernels = int(trace.events.dur[trace.rows(Kind.KERNEL)].sum())
        share = 100 * int(trace.events.dur[fused].sum()) / max(all_kernels, 1)
        notes.append(f"{len(fused)} kernels that inductor made: {share:.0f}% of the kernels' time")
    return notes


def _from_facts(facts: dict[str, Any]) -> list[str]:
    """What the process itself counted since it began."""
    notes = []
    if facts:
        notes.append(f"since the process began: {facts.get('graphs', 0)} graphs, {facts.get('breaks', 0)} graph breaks")
        notes += [f"graph break: {reason}" for reason in facts.get("break_reasons", [])]
        if facts.get("recompile_limit"):
            notes.append("a function was recompiled so often that dynamo gave up on it (recompile limit)")
    return notes
