"""The points of one segment in memory: tables that only grow, and chunks that stay packed until they are asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.records import FileHeader
from stepscope.runs.batches import Batch, Rows
from stepscope.runs.chunks import ChunkHead, decode_chunk
from stepscope.runs.summary import ColumnSummaries, MetricSummary, join, summarise_points

__all__ = ["Points", "Segment", "join_points"]


class Points(NamedTuple):
    """A stretch of one series in the order it was logged. `exact` has integers a float64 cannot hold, by position."""

    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    exact: dict[int, int]

    def take(self, order: npt.NDArray[np.int64]) -> Points:
        """The points at these positions, in this order."""
        exact: dict[int, int] = {}
        if self.exact:
            place = {int(old): new for new, old in enumerate(order)}
            exact = {place[old]: number for old, number in self.exact.items() if old in place}
        return Points(self.steps[order], self.times[order], self.values[order], exact)


NO_POINTS = Points(np.empty(0, np.int64), np.empty(0), np.empty(0), {})


def join_points(parts: list[Points]) -> Points:
    """Several stretches one after the other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return NO_POINTS
    exact: dict[int, int] = {}
    start = 0
    for part in parts:
        exact.update({start + at: number for at, number in part.exact.items()})
        start += len(part.steps)
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts]),
        exact,
    )


class Table:
    """Rows of one keyset, each column contiguous, with room to grow: adding costs the same however many there are."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.count = 0
        self.seqs = np.empty(0, dtype=np.uint32)
        self.steps = np.empty(0, dtype=np.int64)
        self.times = np.empty(0, dtype=np.float64)
        self.values = np.empty((len(names), 0), dtype=np.float64)
        self.exact: dict[int, dict[int, int]] = {}
        self.summaries = ColumnSummaries(len(names))

    def add(self, rows: Rows) -> None:
        start, end = self.count, self.count + len(rows.seqs)
        if end > len(self.seqs):
            self._grow(end if not start else max(end, 2 * start, 64))
        self.seqs[start:end] = rows.seqs
        self.steps[start:end] = rows.steps
        self.times[start:end] = rows.times
        self.values[:, start:end] = rows.values.T
        for (row, column), number in rows.exact.items():
            self.exact.setdefault(column, {})[start + row] = number
        self.summaries.add(rows.steps, rows.values)
        self.count = end

    def _grow(self, room: int) -> None:
        # New arrays each time: views handed out before stay as they were.
        for name in ("seqs", "steps", "times"):
            old = getattr(self, name)
            new = np.empty(room, dtype=old.dtype)
            new[: self.count] = old[: self.count]
            setattr(self, name, new)
        values = np.empty((len(self.names), room), dtype=np.float64)
        values[:, : self.count] = self.values[:, : self.count]
        self.values = values

    def points(self, column: int, start: int) -> Points:
        part = slice(start, self.count)
        exact = {row - start: number for row, number in self.exact.get(column, {}).items() if row >= start}
        return Points(self.steps[part], self.times[part], self.values[column, part], exact)


class Segment:
    """What one segment of one process holds. `columns` says where each series stands."""

    def __init__(self, header: FileHeader) -> None:
        self.header = header
        self.prefix = "system/" if header.role == "system" else ""
        self.tables: dict[tuple[str, ...], Table] = {}
        self.columns: dict[str, list[tuple[Table, int]]] = {}
        self.chunks: dict[str, list[tuple[ChunkHead, bytes]]] = {}
        self._chunk_summaries: dict[str, MetricSummary] = {}
        self.points = 0
        self.reordered = 0
        """How often rows came late, out of a hole that healed: what was read before must be read anew."""
        self._newest = -1

    def name(self, logged: str) -> str:
        """The series' name: what the machine's sampler logs stands under `system/`."""
        return logged if logged.startswith(self.prefix) else self.prefix + logged

    def add(self, batch: Batch) -> list[str]:
        """Take the points of a batch; returns the names that are new here."""
        fresh: list[str] = []
        for rows in batch.rows:
            if not len(rows.seqs):
                continue
            table = self.tables.get(rows.names)
            if table is None:
                table = self.tables[rows.names] = Table(rows.names)
                for column, logged in enumerate(rows.names):
                    name = self.name(logged)
                    if name not in self.columns and name not in self.chunks:
                        fresh.append(name)
                    self.columns.setdefault(name, []).append((table, column))
            if int(rows.seqs[0]) < self._newest and table.count and rows.seqs[0] < table.seqs[table.count - 1]:
                self.reordered += 1
            self._newest = max(self._newest, int(rows.seqs[-1]))
            table.add(rows)
            self.points += rows.values.size
        for head, payload in batch.chunks:
            name = self.name(head.name)
            if name not in self.columns and name not in self.chunks:
                fresh.append(name)
            self.chunks.setdefault(name, []).append((head, payload))
            self._chunk_summaries[name] = join((self._chunk_summaries.get(name, MetricSummary()), head.summary))
            self.points += head.count
        return fresh

    @property
    def names(self) -> list[str]:
        """The series that have points here."""
        return list(dict.fromkeys([*self.chunks, *self.columns]))

    def cursor(self, name: str) -> tuple[int, ...]:
        """How many points the series has here; `points_since` takes it back."""
        counts = [table.count for table, _ in self.columns.get(name, ())]
        return (len(self.chunks.get(name, ())), *counts)

    def points_since(self, name: str, cursor: tuple[int, ...]) -> Points:
        """What the series has beyond a cursor, in the order it was logged."""
        parts = []
        for _head, payload in self.chunks.get(name, [])[cursor[0] if cursor else 0 :]:
            try:
                parts.append(Points(*decode_chunk(payload)[1:]))
            except BadData:
                continue  # its checksum was right, so whoever compacted wrote nonsense; `LogReader` counts it
        tables = self.columns.get(name, [])
        starts = [*cursor[1:], *([0] * len(tables))]
        rows = [(table, column, start) for (table, column), start in zip(tables, starts, strict=False)]
        parts.extend(self._rows(rows))
        return join_points(parts)

    @staticmethod
    def _rows(rows: list[tuple[Table, int, int]]) -> list[Points]:
        parts = [table.points(column, start) for table, column, start in rows if start < table.count]
        seqs = [table.seqs[start : table.count] for table, _column, start in rows if start < table.count]
        if not parts:
            return []
        joined = np.concatenate(seqs)
        if len(joined) > 1 and (joined[1:] < joined[:-1]).any():
            return [join_points(parts).take(np.argsort(joined, kind="stable"))]
        return parts

    def summary(self, name: str) -> MetricSummary:
        """The series' part of its summary. Reads no point again, unless rows of two kinds may share a step."""
        tables = self.columns.get(name, ())
        if len(tables) > 1 or self.reordered:
            points = self.points_since(name, ())
            return summarise_points(points.steps, points.values)
        chunks = self._chunk_summaries.get(name, MetricSummary())
        return join([chunks, *(table.summaries.summary(column) for table, column in tables)])
