"""The timeline of one rank: made once of its trace, then asked many small questions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from stepscope.profile.timeline.find import Finder
from stepscope.profile.timeline.lanes import name_lanes
from stepscope.profile.timeline.lines import Lines, lay_out
from stepscope.profile.timeline.picked import PickedEvent, pick
from stepscope.profile.timeline.pyramid import Pyramid
from stepscope.profile.timeline.selection import Selection, select
from stepscope.profile.timeline.tiles import pack_tiles
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace


class Timeline:
    """
    timeline = Timeline(trace)
    timeline.tiles(level=20, first=0, count=4, lanes=[0, 1])      # what a screen shows
    timeline.select(0, 1_000_000)                                 # what happened in the first millisecond
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.lines: Lines = lay_out(trace)
        self._pyramid = Pyramid(self.lines)
        self.lanes, self.groups = name_lanes(trace, self.lines)

    @cached_property
    def finder(self) -> Finder:
        return Finder(self.trace, self.lines)

    @cached_property
    def seen(self) -> tuple[int, int]:
        """From the first to the last event of the program, on the axis; the profiler's own marks may lie outside."""
        own = [lane.id for lane in self.lanes if lane.kind != "profiler"]
        lines = np.flatnonzero(np.isin(self.lines.lane, own))
        places = np.repeat(np.isin(np.arange(len(self.lines.lane)), lines), np.diff(self.lines.first))
        if not places.any():
            return 0, self.lines.span_ns
        start = self.lines.start[places]
        return int(start.min()), int((start + self.lines.dur[places]).max())

    @property
    def notes(self) -> list[str]:
        """What a person who looks at the picture must know."""
        lines, found = self.lines, []
        memory = int((self.trace.kind == Kind.MEMORY.value).sum())
        if memory:
            found.append(f"{memory:,} allocations are not drawn here; the Memory tab has them")
        if lines.ours:
            found.append(f"{lines.ours:,} calls of Stepscope itself are not drawn; the Python tab has their time")
        if lines.moved:
            found.append(f"{lines.moved:,} events have times far outside the training and are drawn at the edge")
        if self.trace.events.header.truncated:
            found.append("the trace's file ends early; what was whole is shown")
        return found

    def tiles(self, *, level: int, first: int, count: int, lanes: Sequence[int]) -> bytes:
        events = self.trace.events
        return pack_tiles(
            self.lines, self._pyramid, events.name, self.trace.kind, level=level, first=first, count=count, lanes=lanes
        )

    def select(self, begin: int, end: int, lanes: Sequence[int] | None = None) -> Selection:
        return select(self.trace, self.lines, begin, end, lanes)

    def pick(self, row: int) -> PickedEvent:
        return pick(self.trace, self.lines, row)
