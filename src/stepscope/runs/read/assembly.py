"""Assemble one series from the segments of all attempts: ordered, without points that a later attempt logged again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stepscope.runs.points.pyramid import Pyramid
from stepscope.runs.points.series import Series
from stepscope.runs.points.summary import join
from stepscope.runs.read.rowtable import Points, join_points
from stepscope.runs.read.segments import Segment


class SeriesBuilder:
    """Keeps one series current. Usually (one process, increasing steps) new points are only appended."""

    def __init__(self, name: str, rank: int, run: str, start: float) -> None:
        self.name = name
        self.rank = rank
        self.run = run
        self.start = start
        self._reset()

    def _reset(self) -> None:
        self._read: dict[Segment, tuple[tuple[int, ...], int]] = {}
        self._steps = np.empty(0, dtype=np.int64)
        self._times = np.empty(0)
        self._values = np.empty(0)
        self._exact: dict[int, int] = {}
        self._thinned: npt.NDArray[np.float64] | None = None
        self._attempt = 0
        self._times_sorted = True
        self._pyramid = Pyramid()
        self._series: Series | None = None
        self.count = 0

    def update(self, segments: Sequence[Segment]) -> Series:
        """The current series; `segments` are those that contain it, in order."""
        if not self._only_grew(segments) or not self._append_new(segments):
            self._rebuild(segments)
        if self._series is None:
            self._pyramid.update(self._values[: self.count])
            self._series = Series(
                self.name,
                self._steps[: self.count],
                self._times[: self.count],
                self._values[: self.count],
                rank=self.rank,
                run=self.run,
                start=self.start,
                exact=self._exact,
                pyramid=self._pyramid,
                times_sorted=self._times_sorted,
                thinned=self._thinned,
                # Runs with several attempts are never thinned, so none of these points is superseded.
                summary=None if self._thinned is None else join(one.summary(self.name) for one in segments),
            )
        return self._series

    def _only_grew(self, segments: Sequence[Segment]) -> bool:
        same = all(segment in self._read or segment.header.attempt >= self._attempt for segment in segments)
        return (
            same
            and all(segment.reordered == self._read.get(segment, ((), segment.reordered))[1] for segment in segments)
            and self._read.keys() <= set(segments)
        )

    def _append_new(self, segments: Sequence[Segment]) -> bool:
        """Append new points if they all belong at the end; False if the order must be recomputed."""
        fresh = [(segment, self._new_points(segment)) for segment in segments]
        fresh = [(segment, points) for segment, points in fresh if len(points.steps)]
        if fresh:
            new = join_points([points for _, points in fresh])
            attempts = {segment.header.attempt for segment, _ in fresh}
            if len(attempts) > 1 or bool((new.steps[1:] < new.steps[:-1]).any()):
                return self.count == 0 and len(attempts) == 1 and self._take_sorted(fresh)
            if self.count and not self._is_behind_end(int(new.steps[0]), attempts, segments):
                return False
            self._append(new)
            self._attempt = max(attempts)
        self._mark(segments)
        return True

    def _is_behind_end(self, first: int, attempts: set[int], segments: Sequence[Segment]) -> bool:
        """Whether this step follows all points; another attempt repeats the last step, except for system metrics."""
        last = int(self._steps[self.count - 1])
        if attempts != {self._attempt} and not _is_system(segments):
            return first > last
        return first >= last

    def _take_sorted(self, fresh: list[tuple[Segment, Points]]) -> bool:
        points = join_points([points for _, points in fresh])
        several = len({_process(segment) for segment, _ in fresh}) > 1
        self._append(points.take(_by_step(points, several)))
        self._attempt = fresh[0][0].header.attempt
        self._mark([segment for segment, _ in fresh])
        return True

    def _new_points(self, segment: Segment) -> Points:
        cursor = self._read.get(segment, ((), 0))[0]
        if cursor and cursor == segment.cursor(self.name):
            return join_points([])
        return segment.points_since(self.name, cursor)

    def _mark(self, segments: Sequence[Segment]) -> None:
        for segment in segments:
            self._read[segment] = (segment.cursor(self.name), segment.reordered)

    def _rebuild(self, segments: Sequence[Segment]) -> None:
        self._reset()
        points, superseded = _branches(self.name, segments)
        current = points.take(np.flatnonzero(~superseded))
        several = len({_process(segment) for segment in segments}) > 1
        self._append(current.take(_by_step(current, several)))
        self._attempt = max((segment.header.attempt for segment in segments), default=0)
        self._mark(segments)

    def _append(self, new: Points) -> None:
        start, end = self.count, self.count + len(new.steps)
        if new.thinned is not None or self._thinned is not None:
            before = Points(self._steps, self._times, self._values[:start], {}, self._thinned)
            self._thinned = np.concatenate((before.stand_ins, new.stand_ins))
        if end > len(self._steps):
            room = end if not start else max(end, 2 * start)
            for name in ("_steps", "_times", "_values"):
                old = getattr(self, name)
                grown = np.empty(room, dtype=old.dtype)
                grown[:start] = old[:start]
                setattr(self, name, grown)
        self._steps[start:end], self._times[start:end], self._values[start:end] = new.steps, new.times, new.values
        joint = self._times[max(0, start - 1) : end]
        self._times_sorted &= bool((joint[1:] >= joint[:-1]).all())
        if new.exact:
            self._exact = {**self._exact, **{start + at: number for at, number in new.exact.items()}}
        self.count = end
        self._series = None


def all_branches(name: str, rank: int, run: str, start: float, segments: Sequence[Segment]) -> Series:
    """Every point of every attempt; `superseded` marks those that a later attempt logged again."""
    points, superseded = _branches(name, segments)
    order = np.argsort(points.steps, kind="stable")
    points = points.take(order)
    return Series(
        name,
        points.steps,
        points.times,
        points.values,
        rank=rank,
        run=run,
        start=start,
        exact=points.exact,
        superseded=superseded[order],
    )


def _branches(name: str, segments: Sequence[Segment]) -> tuple[Points, npt.NDArray[np.bool_]]:
    """All points, attempt by attempt, and which are superseded: an attempt hides earlier points from its first step
    on. System metrics are never hidden: the machine ran in every attempt."""
    parts = [segment.points_since(name, ()) for segment in segments]
    masks: list[npt.NDArray[np.bool_]] = []
    first: dict[int, int] = {}
    for segment, points in zip(segments, parts, strict=True):
        if len(points.steps):
            attempt, least = segment.header.attempt, int(points.steps.min())
            first[attempt] = min(first.get(attempt, least), least)
    for segment, points in zip(segments, parts, strict=True):
        later = [step for attempt, step in first.items() if attempt > segment.header.attempt]
        if later and not _is_system(segments):
            masks.append(points.steps >= min(later))
        else:
            masks.append(np.zeros(len(points.steps), dtype=bool))
    return join_points(parts), np.concatenate(masks) if masks else np.empty(0, dtype=bool)


def _by_step(points: Points, several: bool) -> npt.NDArray[np.int64]:
    """Sorted by step; ties in logging order, which across processes only the clock can tell."""
    if several:
        return np.lexsort((points.times, points.steps))
    return np.argsort(points.steps, kind="stable")


def _process(segment: Segment) -> str:
    """One process's log: segments share the id before the first dot."""
    return segment.header.file_id.partition(".")[0]


def _is_system(segments: Sequence[Segment]) -> bool:
    return all(segment.header.role == "system" for segment in segments)


def may_supersede(name: str, segments: Sequence[Segment]) -> bool:
    """Whether a later attempt may have logged points of this series again."""
    attempts = {segment.header.attempt for segment in segments}
    return len(attempts) > 1 and not name.startswith("system/")
