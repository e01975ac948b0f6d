"""The points of one segment in memory: rows in tables, chunks that stay packed until needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.records import FileHeader
from stepscope.runs.format.chunks import ChunkHead, decode_chunk
from stepscope.runs.points.summary import MetricSummary, join, summarise_points
from stepscope.runs.read.batches import Batch
from stepscope.runs.read.rowtable import Points, RowTable, join_points

_questions = count(1)
Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


class Segment:
    """The content of one segment of one process. `columns` locates each series."""

    def __init__(self, header: FileHeader) -> None:
        self.header = header
        self.prefix = "system/" if header.role == "system" else ""
        self.tables: dict[tuple[str, ...], RowTable] = {}
        self.columns: dict[str, list[tuple[RowTable, int]]] = {}
        self.chunks: dict[str, list[tuple[ChunkHead, bytes]]] = {}
        self._chunk_summaries: dict[str, MetricSummary] = {}
        self.points = 0
        self.reordered = 0
        """How often rows came late, out of a recovered hole, so that earlier results must be reread."""
        self.nbytes = 0
        self.used = 0
        """When its points were last used, as a use counter."""
        self.dropped = False
        self.reload: Callable[[], Segment] | None = None
        """How to reread the segment; without it the points cannot be dropped."""
        self._newest = -1

    def name(self, logged: str) -> str:
        """The series' name: system metrics get the prefix `system/`."""
        return logged if logged.startswith(self.prefix) else self.prefix + logged

    def add(self, batch: Batch) -> None:
        """Add the points of a batch."""
        rows = [one for one in batch.rows if len(one.seqs)]
        if rows:
            # Within one batch pieces come in any order; across batches only out of a recovered hole.
            self.reordered += int(min(one.seqs[0] for one in rows)) < self._newest
            self._newest = max(self._newest, int(max(one.seqs[-1] for one in rows)))
        for one in rows:
            self._table(one.names).add(one)
            self.points += one.values.size
            self.nbytes += one.values.nbytes + 20 * len(one.seqs)
        for head, payload in batch.chunks:
            name = self.name(head.name)
            self.chunks.setdefault(name, []).append((head, payload))
            self._chunk_summaries[name] = join((self._chunk_summaries.get(name, MetricSummary()), head.summary))
            self.points += head.count
            self.nbytes += len(payload)

    def _table(self, names: tuple[str, ...]) -> RowTable:
        table = self.tables.get(names)
        if table is None:
            table = self.tables[names] = RowTable(names)
            for column, logged in enumerate(names):
                self.columns.setdefault(self.name(logged), []).append((table, column))
        return table

    def drop(self) -> None:
        """Drop the points to free memory; they are reread when needed."""
        if self.reload is None or self.dropped:
            return
        for table in self.tables.values():
            table.drop()
        self.chunks = {name: [(head, b"") for head, _ in chunks] for name, chunks in self.chunks.items()}
        self.nbytes = 0
        self.dropped = True

    def _restore(self) -> None:
        if not self.dropped or self.reload is None:
            return
        found = self.reload()
        if found.points != self.points:
            raise BadData(
                f"a log file of run {self.header.run_id} has changed since it was first read; open the run again"
            )
        if found.chunks.keys() != self.chunks.keys():
            self.reordered += 1  # compacted meanwhile: the same points, numbered differently
        self.tables, self.columns, self.chunks = found.tables, found.columns, found.chunks
        self._chunk_summaries = found._chunk_summaries
        self.nbytes = found.nbytes
        self.dropped = False

    @property
    def names(self) -> list[str]:
        """The series that have points here."""
        return list(dict.fromkeys([*self.chunks, *self.columns]))

    def cursor(self, name: str) -> tuple[int, ...]:
        """Number of points of the series here; a cursor for `points_since`."""
        counts = [table.count for table, _ in self.columns.get(name, ())]
        return (len(self.chunks.get(name, ())), *counts)

    def points_since(self, name: str, cursor: tuple[int, ...]) -> Points:
        """The series' points after a cursor, in logging order."""
        was_dropped = self.dropped
        self._restore()
        self.used = next(_questions)
        parts = []
        for _head, payload in self.chunks.get(name, [])[cursor[0] if cursor else 0 :]:
            try:
                parts.append(Points(*decode_chunk(payload)[1:]))
            except BadData:
                continue  # its checksum was right, so the compaction wrote invalid data; `LogReader` counts it
        tables = self.columns.get(name, [])
        starts = [*cursor[1:], *([0] * len(tables))]
        rows = [(table, column, start) for (table, column), start in zip(tables, starts, strict=False)]
        parts.extend(self._rows(rows))
        # A view would keep the whole table in memory for one column after it is dropped.
        return join_points(parts).copy() if was_dropped else join_points(parts)

    def rows_of(self, names: Sequence[str]) -> tuple[Whole, Floats]:
        """Series that are only logged together: their steps, and one row of values for each name."""
        self._restore()
        found = [self.columns.get(name, []) for name in names]
        tables = {id(table): table for one in found for table, _ in one}
        if len(tables) == 1 and all(len(one) == 1 for one in found) and not any(name in self.chunks for name in names):
            (table,) = tables.values()
            seqs = table.seqs[: table.count]
            if not (seqs[1:] < seqs[:-1]).any():
                self.used = next(_questions)
                return table.steps[: table.count], table.values[[column for ((_, column),) in found], : table.count]
        points = [self.points_since(name, ()) for name in names]
        return points[0].steps, np.stack([one.values for one in points])

    @staticmethod
    def _rows(rows: list[tuple[RowTable, int, int]]) -> list[Points]:
        parts = [table.points(column, start) for table, column, start in rows if start < table.count]
        seqs = [table.seqs[start : table.count] for table, _column, start in rows if start < table.count]
        if not parts:
            return []
        joined = np.concatenate(seqs)
        if len(joined) > 1 and (joined[1:] < joined[:-1]).any():
            return [join_points(parts).take(np.argsort(joined, kind="stable"))]
        return parts

    def summary(self, name: str) -> MetricSummary:
        """The series' part of its summary. Reads no point again, unless two kinds of rows may share a step."""
        tables = self.columns.get(name, ())
        if len(tables) > 1 or self.reordered:
            points = self.points_since(name, ())
            return summarise_points(points.steps, points.values)
        chunks = self._chunk_summaries.get(name, MetricSummary())
        return join([chunks, *(table.summary(column) for table, column in tables)])
