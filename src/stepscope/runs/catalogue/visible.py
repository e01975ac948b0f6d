"""A catalog restricted to the projects a user may see: the same answers, as if the other runs did not exist.

A test compares it with `Catalogue`: every query method must be restricted here, or it would leak other runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.common.metric_direction import Goal
from stepscope.errors import NotFound
from stepscope.runs.catalogue.catalogue import Catalogue, Changes
from stepscope.runs.catalogue.columns import RunColumn
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.resolve import choose
from stepscope.runs.catalogue.selection import RunPage, Selection
from stepscope.runs.query.query import Field, Query

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


class VisibleCatalogue(Catalogue):
    """Shows some projects, or one run, of another catalog, which is refreshed and closed elsewhere."""

    def __init__(self, inner: Catalogue, projects: frozenset[str], run: str | None = None) -> None:
        self._inner = inner
        self._projects = projects
        self._run = run

    @property
    def stores(self) -> list[Path]:  # type: ignore[override]
        return self._inner.stores

    @property
    def version(self) -> int:  # type: ignore[override]
        return self._inner.version

    @property
    def unread(self) -> int:  # type: ignore[override]
        return self._inner.unread

    @property
    def problems(self) -> dict[Path, str]:
        return {}  # unreadable folders belong to no known project

    def refresh(
        self, progress: Callable[[int, int], None] | None = None, only: Collection[str] | None = None
    ) -> Changes:
        return self._inner.refresh(progress, only)

    def close(self) -> None:
        """Does nothing: the other catalog is closed elsewhere."""

    def shows(self, entry: RunEntry) -> bool:
        return entry.id == self._run if self._run is not None else entry.project in self._projects

    def __len__(self) -> int:
        return self.count()

    def count(self, projects: Collection[str] | None = None) -> int:
        if self._run is not None:
            return len(self.every())
        return self._inner.count(self._projects if projects is None else self._projects.intersection(projects))

    def entries(
        self, query: str | Query = "", sort: str = "created", descending: bool = True, group_by: str | None = None
    ) -> list[RunEntry]:
        return [entry for entry in self._inner.entries(query, sort, descending, group_by) if self.shows(entry)]

    def selected(self, asked: Selection) -> list[RunEntry]:
        return self._inner.selected(self._limited(asked))

    def page(self, asked: Selection, offset: int = 0, limit: int = 50) -> RunPage:
        return self._inner.page(self._limited(asked), offset, limit)

    def finished_ranges(self, asked: Selection, fields: list[Field]) -> dict[Field, tuple[float, float]]:
        return self._inner.finished_ranges(self._limited(asked), fields)

    def goals(self, asked: Selection, metrics: Collection[str]) -> dict[str, Goal]:
        return self._inner.goals(self._limited(asked), metrics)

    def _limited(self, asked: Selection) -> Selection:
        if self._run is None:
            own = self._projects if asked.projects is None else asked.projects & self._projects
            return replace(asked, projects=own)
        own = frozenset((self._run,))
        return replace(asked, runs=own if asked.runs is None else asked.runs & own)

    def every(self) -> list[RunEntry]:
        if self._run is None:
            return self._inner.selected(Selection(projects=self._projects))
        try:
            return [self.entry(self._run)]
        except NotFound:
            return []

    def stamp_of(self, entry: RunEntry) -> str:
        return self._inner.stamp_of(entry)

    def each(self) -> Iterator[RunEntry]:
        return (entry for entry in self._inner.each() if self.shows(entry))

    def homes(self) -> set[Path]:
        return self._inner.homes()

    def running(self) -> list[RunEntry]:
        return [entry for entry in self._inner.running() if self.shows(entry)]

    def check_field(self, text: str) -> None:
        self._inner.check_field(text)

    def entry(self, run_id: str) -> RunEntry:
        found = self._inner.entry(run_id)
        if not self.shows(found):
            raise NotFound(f"there is no run {run_id!r} here that you may see; ask an admin for a role in its project")
        return found

    def get(self, ref: str) -> RunFolder:
        try:
            return self._inner.get(self.entry(ref).id)
        except NotFound:
            return self._inner.get(choose(ref, self.every()).id)

    def columns(self, query: str = "") -> list[RunColumn]:
        return self.table_columns(Selection(query))[0]

    def table_columns(self, asked: Selection) -> tuple[list[RunColumn], list[str]]:
        return self._inner.table_columns(self._limited(asked))

    def prefetch(self, entries: list[RunEntry], fields: list[Field]) -> None:
        self._inner.prefetch(entries, fields)

    def projects(self) -> list[str]:
        if self._run is not None:
            return sorted({entry.project for entry in self.every()})
        return [project for project in self._inner.projects() if project in self._projects]
