"""Shown above the traceback of a crash: the failing operation, the way of the shapes, the tensors of each frame.

Findings say the cause where it is known. This says what was there, for every crash, and guesses nothing.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepscope import fence
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.ranges import DEVICE_STOPPED
from stepscope.diagnose.crash.tensors import Shown, named_tensors, show
from stepscope.diagnose.show import place_of
from stepscope.plain_text import clean

_MOST_FRAMES = 6
_FIRST_LAYERS, _LAST_LAYERS = 3, 9


@dataclass(frozen=True)
class LayerRow:
    """One layer on the way: what came in, what went out."""

    path: str
    type: str
    given: str
    gave: str
    failed: bool = False


@dataclass(frozen=True)
class FrameView:
    """One frame of the user's, with its tensors."""

    file: str
    line: int
    function: str
    code: str
    tensors: list[Shown]
    more: int = 0


@dataclass(frozen=True)
class Explanation:
    """A crash in words."""

    headline: str
    op: str = ""
    operands: list[Shown] = field(default_factory=list)
    layer: str = ""
    layers: list[LayerRow] = field(default_factory=list)
    frames: list[FrameView] = field(default_factory=list)
    late: bool = False
    """A device reported it some operations after it happened."""

    @property
    def is_empty(self) -> bool:
        """Nothing to add to the traceback: no tensor was in sight."""
        return (
            not self.late and not self.operands and not self.layers and not any(frame.tensors for frame in self.frames)
        )

    def text(self, *, color: bool = False, width: int = 120, root: Path | None = None) -> str:
        """The explanation as lines; plain when piped."""
        lines = list(_lines(self, root or Path.cwd()))
        return "\n".join(_painted(text if len(text) <= width else f"{text[: width - 3]}...", color) for text in lines)


def explain(crash: Crash) -> Explanation:
    """Read a crash for a person; never raises, and never runs the user's code."""
    found = fence.fenced("explaining a crash")(_explain)(crash)
    return found or Explanation(headline=crash.type)


def _explain(crash: Crash) -> Explanation:
    if crash.says(DEVICE_STOPPED):  # what runs now is not what failed, and no tensor of the device can be read
        return Explanation(headline=crash.type, late=True, frames=[_view(f) for f in crash.own[-1:]])
    found = crash.operation
    layer = crash.layer
    site = None if layer is None else layer.site
    built = "" if site is None else f", built at {place_of(site.file, site.line, Path.cwd())}"
    torchs = bool(crash.operands) and crash.last is not None and (found is None or found.frame in crash.frames[-3:])
    return Explanation(
        headline=crash.type,
        op=found.op if found is not None and torchs else "",
        operands=[show(name, tensor) for name, tensor in crash.operands[:8]] if torchs else [],
        layer="" if layer is None else f"{layer.name}{built}",
        layers=_way(crash) if crash.layers or crash.failed is not None else [],
        frames=[_view(frame) for frame in crash.own[-_MOST_FRAMES:]],
    )


def _way(crash: Crash) -> list[LayerRow]:
    """The layers without layers inside them, in the order they ran; a long way is shortened in the middle."""
    visits = [visit for visit in crash.visits if visit.parent is not None or len(crash.visits) == 1]
    inner = {id(visit.parent) for visit in visits}
    rows = [
        LayerRow(
            path=visit.path or visit.type,
            type=visit.type,
            given=_shapes(visit.shapes_in),
            gave=_shapes(visit.shapes_out),
            failed=not visit.shapes_out,
        )
        for visit in visits
        if id(visit) not in inner
    ]
    if len(rows) > _FIRST_LAYERS + _LAST_LAYERS + 1:
        left_out = len(rows) - _FIRST_LAYERS - _LAST_LAYERS
        rows[_FIRST_LAYERS:-_LAST_LAYERS] = [LayerRow(f"... {left_out} more", "", "", "")]
    return rows


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes[:3])


def _view(frame: Frame) -> FrameView:
    every = named_tensors(frame.locals, most=40)
    # In a long script the names of the failing line are the ones that matter.
    code = linecache.getline(frame.file, frame.line).strip()
    first = sorted(every, key=lambda pair: pair[0].split("[")[0] not in code)
    shown = [show(name, tensor) for name, tensor in first[:8]]
    return FrameView(frame.file, frame.line, frame.function, code, shown, max(0, len(every) - len(shown)))


def _lines(told: Explanation, root: Path) -> Iterator[str]:
    if told.late:
        yield "the device stopped some operations earlier; with CUDA_LAUNCH_BLOCKING=1 the traceback ends at the cause"
    if told.op:
        yield f"what failed: {clean(told.op)}"
        wide = max((len(operand.name) for operand in told.operands), default=0)
        for operand in told.operands:
            yield f"    {clean(operand.name):<{min(wide, 40)}}  {operand}"
    if told.layer:
        yield f"in the layer {clean(told.layer)}"
    if told.layers:
        yield "the path through the layers:"
        wide = max(len(row.path) for row in told.layers)
        kinds = max(len(row.type) for row in told.layers)
        for row in told.layers:
            gave = row.gave if not row.failed else "failed"
            arrow = f"{row.given} -> {gave}" if row.given else ""
            yield f"    {clean(row.path):<{wide}}  {row.type:<{kinds}}  {arrow}".rstrip()
    for frame in told.frames:
        if not frame.tensors:
            continue
        yield f"tensors at {place_of(frame.file, frame.line, root)} in {frame.function}: {clean(frame.code)}"
        wide = max(len(tensor.name) for tensor in frame.tensors)
        for tensor in frame.tensors:
            yield f"    {clean(tensor.name):<{min(wide, 40)}}  {tensor}"
        if frame.more:
            yield f"    ... and {frame.more} more"


def _painted(text: str, color: bool) -> str:
    if not color or text.startswith(" "):
        return text
    return f"\x1b[1m{text}\x1b[0m"
