"""The catalogue of a server with PostgreSQL: its pages of runs are filtered, sorted and counted by the database.

The database has every run that has ended. The few that are running change all the time: Python evaluates them and puts
them in their places. Beyond some thousands of runs only these are in memory. What SQL cannot express, Python evaluates
over all runs, read for the purpose; so too while the database is away, over those that are left.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeGuard, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from stepscope.common.metric_direction import Goal
from stepscope.errors import StorageError
from stepscope.runs.catalogue.catalogue import Catalogue, Changes
from stepscope.runs.catalogue.columns import RunColumn
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.ordering import ordered
from stepscope.runs.catalogue.run_counts import RunCounts
from stepscope.runs.catalogue.selection import RunPage, Selection, newest_goals, ranges_of
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.query.parser import AllOf, Compare, Node
from stepscope.runs.query.query import Field, Query, check_field, parse, parse_field
from stepscope.server.query_sql import NotInSql
from stepscope.server.run_pages import RunPages
from stepscope.server.run_table import RunTable

log = logging.getLogger("stepscope.server")

T = TypeVar("T")

FEW = 2_000
"""So many runs Python filters and sorts in less time than a question to the database takes. With more, only those that
go on are in memory."""
_KEPT = 50_000
"""So many runs stay in memory until something changes, once somebody needs all of them."""
_EVERY = 10**9


class SqlCatalogue(Catalogue):
    """A catalogue over stores whose index is a `RunTable`."""

    def __init__(
        self, *stores: Path | str, table: RunTable, few: int = FEW, clock: Callable[[], float] = time.time
    ) -> None:
        """With no more than `few` runs, Python is asked."""
        super().__init__(*stores, index=table, clock=clock, few=few if len(stores) == 1 else math.inf)
        self.version = int(1000 * clock())  # pages compare versions, and may have them from several processes
        self._table = table
        self._few = few
        self._whole: tuple[int, list[RunEntry]] = (-1, [])
        self._pages = RunPages(table.database, [os.path.realpath(store) for store in stores])
        self._live: dict[str, RunEntry] = {}
        """The runs that are not in the database, or not as they are now."""
        self._twice = False
        """Whether a run is there twice: the database would show both."""

    def refresh(
        self, progress: Callable[[int, int], None] | None = None, only: Collection[str] | None = None
    ) -> Changes:
        with self._refreshing:
            self._rest()
            changes = super().refresh(progress, only)
            left = sorted({run for scan in self._scans for run in scan.take_left()} - self._entries.keys())
            with self._lock:
                self._live = {run: entry for run, entry in self._entries.items() if entry.status == "running"}
                self._twice = len(self._entries) < sum(len(scan.entries) for scan in self._scans)
                if left:
                    self.version += 1
                    changes = replace(changes, version=self.version, gone=[*changes.gone, *left])
                touched = {*changes.changed, *changes.gone}
                for path in [path for path in self._folders if path.name in touched]:
                    del self._folders[path]
            return changes

    def _rest(self) -> None:
        """From now on, settled runs are in the database only, where there are many."""
        if not self._table.is_current:
            return
        with self._lock:
            resting = {run for scan in self._scans for run in scan.rest()}
            if resting:
                self._entries = {run: entry for run, entry in self._entries.items() if run not in resting}

    @property
    def _counts(self) -> RunCounts | None:
        """Counts over all runs, where most of them are in the database only."""
        return self._scans[0].counts if len(self._scans) == 1 else None

    def _all(self) -> list[RunEntry]:
        if self._counts is None:
            return super()._all()
        self._wait()
        version, entries = self._whole
        if version != self.version:
            version = self.version
            entries = sorted(self.each(), key=lambda entry: (entry.head.created, entry.head.id), reverse=True)
            self._whole = (version, entries) if len(entries) <= _KEPT else (-1, [])
            with self._lock:
                self._answers.clear()
        return entries

    def each(self) -> Iterator[RunEntry]:
        if self._counts is None:
            yield from super().each()
            return
        self._wait()
        here = self._entries
        yield from here.values()
        try:
            for entry in self._pages.each():
                if entry.id not in here:
                    yield entry
        except SQLAlchemyError as fault:
            raise StorageError(f"the server's database does not answer: {_first_line(fault)}") from None

    def running(self) -> list[RunEntry]:
        self._wait()
        return list(self._live.values())

    def __len__(self) -> int:
        return super().__len__() if self._counts is None else sum(map(len, self._scans))

    def count(self, projects: Collection[str] | None = None) -> int:
        counts = self._counts
        return super().count(projects) if counts is None or projects is None else counts.runs(projects)

    def projects(self) -> list[str]:
        counts = self._counts
        return super().projects() if counts is None else counts.projects()

    def check_field(self, text: str) -> None:
        counts = self._counts
        if counts is None:
            super().check_field(text)
        else:
            check_field(parse_field(text), counts.known_names(), text)

    def table_columns(self, asked: Selection) -> tuple[list[RunColumn], list[str]]:
        counts = self._counts
        if counts is None or asked.runs is not None or not asked.archived:
            return super().table_columns(asked)
        try:
            projects = _only_projects(asked)
        except NotInSql:
            return super().table_columns(asked)
        found = counts.columns(projects)
        return found, counts.default_columns(found, partial(self.goals, asked), projects)

    def columns(self, query: str = "") -> list[RunColumn]:
        counts = self._counts
        return super().columns(query) if counts is None or query.strip() else counts.columns()

    def prefetch(self, entries: list[RunEntry], fields: list[Field]) -> None:
        if self._counts is None:  # entries from the database have their numbers
            super().prefetch(entries, fields)

    def entries(
        self, query: str | Query = "", sort: str = "created", descending: bool = True, group_by: str | None = None
    ) -> list[RunEntry]:
        asked = Selection(query if isinstance(query, str) else query.text, sort, descending, group_by)
        found = self._whole_by_sql(asked)
        return super().entries(query, sort, descending, group_by) if found is None else found

    def selected(self, asked: Selection) -> list[RunEntry]:
        found = self._whole_by_sql(asked)
        return super().selected(asked) if found is None else found

    def _whole_by_sql(self, asked: Selection) -> list[RunEntry] | None:
        """All runs of a selection, where they are not in memory anyway."""
        if self._counts is None:
            return None
        return self._by_sql(asked, lambda live: self._sql_page(asked, 0, _EVERY, live).entries)

    def _not_seen_yet(self, run_id: str) -> RunEntry | None:
        resting = self._resting_entry(run_id)
        if resting is not None:
            return resting
        found = super()._not_seen_yet(run_id)
        if found is not None:
            with self._lock:
                self._live = {**self._live, run_id: found}
        return found

    def _resting_entry(self, run_id: str) -> RunEntry | None:
        if self._counts is None or not is_run_id(run_id):
            return None
        try:
            return self._pages.entry(run_id)
        except SQLAlchemyError as fault:
            _warn(fault)
            return None

    def page(self, asked: Selection, offset: int = 0, limit: int = 50) -> RunPage:
        found = self._by_sql(asked, lambda live: self._sql_page(asked, offset, limit, live))
        return super().page(asked, offset, limit) if found is None else found

    def finished_ranges(self, asked: Selection, fields: list[Field]) -> dict[Field, tuple[float, float]]:
        found = self._by_sql(asked, lambda live: self._sql_ranges(asked, fields, live))
        return super().finished_ranges(asked, fields) if found is None else found

    def goals(self, asked: Selection, metrics: Collection[str]) -> dict[str, Goal]:
        found = self._by_sql(asked, lambda live: self._sql_goals(asked, metrics, live))
        return super().goals(asked, metrics) if found is None else found

    # -- by SQL -------------------------------------------------------------------------------------------------

    def _by_sql(self, asked: Selection, work: Callable[[dict[str, RunEntry]], T]) -> T | None:
        """What the database says; None where Python has to be asked."""
        self._wait()
        live = self._live
        if len(self) <= self._few or self.unread or self._twice or not self._table.is_current:
            return None
        try:
            query, counts = parse(asked.query), self._counts
            if not all(self._is_known(field, live) for field in query.fields):
                if counts is not None:
                    query.check(counts.known_names())
                return None  # Python says what was perhaps meant
            return work(live)
        except NotInSql:
            return None
        except SQLAlchemyError as fault:
            _warn(fault)
            return None

    def _is_known(self, field: Field, live: dict[str, RunEntry]) -> bool:
        return self._pages.knows(field) or any(entry.value(field) is not None for entry in live.values())

    def _sql_page(self, asked: Selection, offset: int, limit: int, live: dict[str, RunEntry]) -> RunPage:
        now = self._clock()
        own = _selected(asked, live, now)
        # Live runs take up to `len(own)` places before the window, so that it begins so much earlier in the database.
        start = max(0, offset - len(own))
        page = self._pages.page(asked, start, offset + limit - start, without=live.keys(), now=now)
        field = parse_field(asked.sort)
        merged = sorted([*page.entries, *own], key=lambda entry: (entry.created, entry.id), reverse=True)
        merged = ordered(merged, lambda entry: entry.value(field, now), asked.descending)
        window = merged[offset - start : offset - start + limit]
        return RunPage(window, page.matched + len(own), page.exact)

    def _sql_ranges(
        self, asked: Selection, fields: list[Field], live: dict[str, RunEntry]
    ) -> dict[Field, tuple[float, float]]:
        now = self._clock()
        found = ranges_of(_selected(asked, live, now), fields)
        for field in fields:
            ends = self._pages.range_of(asked, field, without=live.keys(), now=now)
            if ends is not None:
                low, high = found.get(field, ends)
                found[field] = (min(low, ends[0]), max(high, ends[1]))
        return found

    def _sql_goals(self, asked: Selection, metrics: Collection[str], live: dict[str, RunEntry]) -> dict[str, Goal]:
        now = self._clock()
        found = newest_goals(_selected(asked, live, now), metrics)
        for name in metrics:
            there = self._pages.goal(asked, name, without=live.keys(), now=now)
            if there is not None and (name not in found or there[0] > found[name][0]):
                found[name] = there
        return {name: goal for name, (_, goal) in found.items()}


def _only_projects(asked: Selection) -> Collection[str] | None:
    """The projects of a selection that limits nothing else, None for all; else `NotInSql`."""
    tree = parse(asked.query).tree
    parts = tree.parts if isinstance(tree, AllOf) else [tree]
    chosen = asked.projects
    for part in parts:
        if not _is_project(part):
            raise NotInSql(asked.query)
        named = frozenset(value.text for value in part.values)
        chosen = named if chosen is None else chosen & named
    return chosen


def _is_project(node: Node) -> TypeGuard[Compare]:
    if not isinstance(node, Compare) or node.operator not in ("=", "in"):
        return False
    return (node.field.source, node.field.name) == ("run", "project") and all(
        value.kind == "text" for value in node.values
    )


def _first_line(fault: SQLAlchemyError) -> str:
    return str(fault).partition("\n")[0]


def _warn(fault: SQLAlchemyError) -> None:
    log.warning("the catalogue's database does not answer: %s", _first_line(fault))


def _selected(asked: Selection, live: dict[str, RunEntry], now: float) -> list[RunEntry]:
    query = parse(asked.query)
    return [entry for entry in live.values() if asked.admits(entry) and query.matches(entry, now)]
