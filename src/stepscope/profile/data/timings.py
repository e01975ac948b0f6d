"""The data events of a trace as columns, ready to be counted: who waited, who fetched, what was inside a fetch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.nesting import nest
from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]
_WARM = 2
"""Batches of a pass that are left out of what is typical: workers start, queues fill."""

_ODD = 3.0


@dataclass(frozen=True)
class Waits:
    """The waits of the training for one loader, in order."""

    start: Rows
    wait: Rows
    ready: Rows
    """Batches that were ready when it asked; -1 where there is no queue."""
    batch: Rows

    @cached_property
    def pass_of(self) -> Rows:
        """Numbers restart with each pass."""
        return np.cumsum(np.diff(self.batch, prepend=self.batch[:1]) < 0) if len(self.batch) else self.batch

    @cached_property
    def is_steady(self) -> Rows:
        """Not among the first of its pass, where there are enough others."""
        steady = self.batch >= _WARM
        return steady if steady.any() else np.ones(len(self.batch), bool)

    @cached_property
    def is_first(self) -> Rows:
        return np.diff(self.pass_of, prepend=-1) > 0

    def turns(self) -> tuple[Rows, Rows]:
        """(wait, time from one asking to the next) of steady batches that have a next one in their pass.

        Turns far longer than the others are left out: an evaluation or the writing of a profile was in them.
        """
        if len(self.start) < 2:
            return self.wait[:0], self.wait[:0]
        same = (np.diff(self.pass_of) == 0) & self.is_steady[:-1]
        wait, turn = self.wait[:-1][same], np.diff(self.start)[same]
        usual = (turn <= _ODD * np.median(turn)) if len(turn) else same[:0]
        return wait[usual], turn[usual]


class DataTimings:
    """Of one process and its workers."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        events = trace.events
        self.rows = rows = trace.rows(Kind.DATA)
        self.start, self.dur = events.start[rows], np.maximum(events.dur[rows], 0)
        self.name = events.name[rows]
        self.lane = events.lane[rows]
        self.loader = events.number("loader", 0)[rows]
        self.worker = events.number("worker", -1)[rows]
        self.batch = events.number("batch")[rows]
        self.detail = events.number("detail", 0)[rows]
        self.ready = events.number("ready")[rows]
        self.place = events.text_index("place")[rows]

    def __len__(self) -> int:
        return len(self.rows)

    def named(self, name: str) -> Rows:
        """A mask over the data rows."""
        index = self.trace.events.name_index.get(name)
        return np.zeros(len(self), bool) if index is None else np.asarray(self.name == index)

    @property
    def loaders(self) -> list[int]:
        return [int(one) for one in np.unique(self.loader)]

    @cached_property
    def parent(self) -> Rows:
        """The innermost data span around each, or -1. A wait is the training's own and part of no fetch, even where
        both are in one process and two clocks let it begin inside one."""
        found = np.full(len(self), -1, np.int64)
        work = np.flatnonzero(~self.named("wait"))
        around = nest(self.lane[work], self.start[work], self.dur[work])
        found[work] = np.where(around >= 0, work[around], -1)
        return found

    @cached_property
    def own(self) -> Rows:
        """Duration without the spans inside."""
        own = self.dur.astype(np.int64).copy()
        inside = self.parent >= 0
        np.subtract.at(own, self.parent[inside], self.dur[inside])
        return np.asarray(np.maximum(own, 0))

    @cached_property
    def fetch(self) -> Rows:
        """The fetch each span is in (itself, for a fetch), or -1."""
        is_fetch = self.named("fetch")
        found = np.where(is_fetch, np.arange(len(self)), -1)
        up = self.parent.copy()
        for _ in range(16):
            open_ = (found < 0) & (up >= 0)
            if not open_.any():
                break
            hit = np.zeros(len(self), bool)
            hit[open_] = is_fetch[up[open_]]
            found[hit] = up[hit]
            rest = open_ & ~hit
            up[rest] = self.parent[up[rest]]
            up[hit] = -1
        return found

    @cached_property
    def in_detail(self) -> Rows:
        """A mask: spans of the fetches that were timed in detail."""
        return np.asarray((self.fetch >= 0) & (self.detail[np.maximum(self.fetch, 0)] == 1))

    def waits(self, loader: int) -> Waits:
        mask = np.flatnonzero(self.named("wait") & (self.loader == loader))
        order = mask[np.argsort(self.start[mask], kind="stable")]
        return Waits(self.start[order], self.dur[order], self.ready[order], self.batch[order])

    def text(self, index: int) -> str | None:
        return None if index < 0 else self.trace.events.texts[index]
