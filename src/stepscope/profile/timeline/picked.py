"""One event and what belongs to it: where it is, what is around it, its arguments, its stack, and its arrows."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.errors import NotFound
from stepscope.profile.timeline.lines import Lines
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

MOST_ARROWS = 200
MOST_TEXT = 20_000
MOST_FRAMES = 256


class Spot(msgspec.Struct):
    """Where an event is drawn."""

    event: int
    name: str
    lane: int
    depth: int
    start_ns: float
    dur_ns: float


class Arrow(msgspec.Struct):
    """Another event that belongs to the chosen one."""

    relation: Literal["launches", "launched by", "backward", "forward"]
    to: Spot


class Argument(msgspec.Struct):
    name: str
    value: str


class PickedEvent(msgspec.Struct):
    at: Spot
    category: str
    kind: str
    self_ns: float
    """Without the events directly inside it."""
    step: int | None
    inside: list[Spot]
    """What is around it, the outermost first."""
    children: int
    shapes: list[str]
    dtypes: list[str]
    module: str
    stack: list[str]
    """Python frames, the innermost first."""
    arguments: list[Argument]
    arrows: list[Arrow]
    arrows_omitted: int


def spot_of(trace: Trace, lines: Lines, place: int) -> Spot:
    row = int(lines.row[place])
    line = int(lines.key[place] >> lines.bits)
    return Spot(
        event=row,
        name=trace.events.names[int(trace.events.name[row])],
        lane=int(lines.lane[line]),
        depth=int(lines.depth[line]),
        start_ns=int(lines.start[place]),
        dur_ns=int(lines.dur[place]),
    )


def pick(trace: Trace, lines: Lines, row: int) -> PickedEvent:
    """All there is to know of the event in a row of the table."""
    place = lines.place_of(row) if 0 <= row < len(trace) else None
    if place is None:
        raise NotFound(f"the timeline has no event {row}")
    around = _around(lines, place)
    arguments = trace.events.arguments(row)
    children = _children(lines, place)
    step = int(trace.step_of[row])
    arrows, omitted = _arrows(trace, lines, row)
    frames = _python_frames(trace, lines, around)
    module = str(arguments.get("Module Hierarchy", "")) or next(
        (name[len("nn.Module: ") :] for name in frames if name.startswith("nn.Module: ")), ""
    )
    return PickedEvent(
        at=spot_of(trace, lines, place),
        category=trace.events.cats[int(trace.events.cat[row])],
        kind=Kind(int(trace.kind[row])).name.lower().replace("_", " "),
        self_ns=_own_ns(lines, place),
        step=trace.steps[step].number if step >= 0 else None,
        inside=[spot_of(trace, lines, one) for one in reversed(around)],
        children=len(children),
        shapes=_listed(arguments.get("Input Dims")),
        dtypes=_listed(arguments.get("Input type")),
        module=module,
        stack=_call_stack(arguments) or frames[:MOST_FRAMES],
        arguments=[Argument(name=key, value=_text(value)) for key, value in arguments.items()],
        arrows=arrows,
        arrows_omitted=omitted,
    )


def _around(lines: Lines, place: int) -> list[int]:
    """The events around one, the innermost first."""
    found: list[int] = []
    above = int(lines.above(np.array([place]))[0])
    while above >= 0:
        found.append(above)
        above = int(lines.above(np.array([above]))[0])
    return found


def _own_ns(lines: Lines, place: int) -> int:
    """Its time without that of what is inside, as far as that lies inside."""
    inside = _inside(lines, place)
    if not lines.marks[int(lines.key[place] >> lines.bits)]:
        inside = inside[lines.above(inside) == place]
    begin, end = int(lines.start[place]), int(lines.start[place] + lines.dur[place])
    covered = np.minimum(lines.start[inside] + lines.dur[inside], end) - np.maximum(lines.start[inside], begin)
    return max(0, end - begin - int(np.maximum(covered, 0).sum()))


def _children(lines: Lines, place: int) -> npt.NDArray[Any]:
    inside = _inside(lines, place)
    found: npt.NDArray[Any] = inside[lines.above(inside) == place]
    return found


def _inside(lines: Lines, place: int) -> npt.NDArray[Any]:
    """What meets the time of an event on the line below it."""
    line = int(lines.key[place] >> lines.bits)
    if line + 1 >= len(lines.lane) or lines.lane[line + 1] != lines.lane[line]:
        return np.zeros(0, np.int64)
    start = int(lines.start[place])
    low, high = lines.around(np.array([line + 1]), np.array([start]), np.array([start + int(lines.dur[place])]))
    return np.arange(int(low[0]), int(high[0]))


def _arrows(trace: Trace, lines: Lines, row: int) -> tuple[list[Arrow], int]:
    found: list[tuple[str, int]] = []
    if trace.launch[row] >= 0:
        found.append(("launched by", int(trace.launch[row])))
    found += [("launches", one) for one in _launched(trace, row)]
    if trace.forward_op[row] >= 0:
        found.append(("forward", int(trace.forward_op[row])))
    if trace.kind[row] == Kind.OP.value:
        back = np.flatnonzero(trace.forward_op == row)
        inner = trace.op_parent[back]
        outermost = back[(inner < 0) | (trace.forward_op[np.maximum(inner, 0)] != row)]
        found += [("backward", one) for one in outermost.tolist()]
    arrows = [
        Arrow(relation=relation, to=spot_of(trace, lines, place))  # type: ignore[arg-type]
        for relation, one in found[:MOST_ARROWS]
        if (place := lines.place_of(one)) is not None
    ]
    return arrows, max(0, len(found) - MOST_ARROWS)


def _launched(trace: Trace, row: int) -> list[int]:
    """The work on devices that was launched inside an event of the host."""
    events, work = trace.events, trace.device_rows
    calls = trace.launch[work]
    linked = calls >= 0
    work, calls = work[linked], calls[linked]
    begin, end = int(events.start[row]), int(events.start[row] + max(int(events.dur[row]), 0))
    inside = (events.lane[calls] == events.lane[row]) & (events.start[calls] >= begin) & (events.start[calls] <= end)
    inside &= (events.start + events.dur)[calls] <= end
    found = work[inside]
    ordered: list[int] = found[np.argsort(events.start[found], kind="stable")].tolist()
    return ordered


def _python_frames(trace: Trace, lines: Lines, around: list[int]) -> list[str]:
    rows = [int(lines.row[place]) for place in around]
    return [trace.events.names[int(trace.events.name[row])] for row in rows if trace.kind[row] == Kind.PYTHON.value]


def _call_stack(arguments: dict[str, Any]) -> list[str]:
    said = str(arguments.pop("Call stack", ""))
    return [line.strip() for line in said.replace(";", "\n").split("\n") if line.strip()][:MOST_FRAMES]


def _listed(said: object) -> list[str]:
    """`[[8, 3], []]` as its parts, each as text."""
    if not isinstance(said, str):
        return []
    try:
        parts = json.loads(said)
    except (ValueError, RecursionError):
        return [said[:MOST_TEXT]]
    return [_text(part) for part in parts[:MOST_FRAMES]] if isinstance(parts, list) else [_text(parts)]


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    text = value if isinstance(value, str) else json.dumps(value) if isinstance(value, (list, dict)) else str(value)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} … ({len(text):,} characters)"
