"""The catalogue of a server with PostgreSQL: its pages of runs are filtered, sorted and counted by the database.

The database has every run that has ended. The few that are running change all the time: Python evaluates them and puts
them in their places. What SQL cannot express, Python evaluates over all runs; so too while the database is away.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from stepscope.common.metric_direction import Goal
from stepscope.runs.catalogue.catalogue import Catalogue, Changes
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.ordering import ordered
from stepscope.runs.catalogue.selection import RunPage, Selection, newest_goals, ranges_of
from stepscope.runs.query.query import Field, parse, parse_field
from stepscope.server.query_sql import NotInSql
from stepscope.server.run_pages import RunPages
from stepscope.server.run_table import RunTable

log = logging.getLogger("stepscope.server")

T = TypeVar("T")

FEW = 2_000
"""So many runs Python filters and sorts in less time than a question to the database takes."""


class SqlCatalogue(Catalogue):
    """A catalogue over stores whose index is a `RunTable`."""

    def __init__(
        self, *stores: Path | str, table: RunTable, few: int = FEW, clock: Callable[[], float] = time.time
    ) -> None:
        """With no more than `few` runs, Python is asked."""
        super().__init__(*stores, index=table, clock=clock)
        self._table = table
        self._few = few
        self._pages = RunPages(table.database, [os.path.realpath(store) for store in stores])
        self._live: dict[str, RunEntry] = {}
        """The runs that are not in the database, or not as they are now."""
        self._twice = False
        """Whether a run is there twice: the database would show both."""

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> Changes:
        with self._refreshing:
            changes = super().refresh(progress)
            with self._lock:
                self._live = {run: entry for run, entry in self._entries.items() if entry.status == "running"}
                self._twice = len(self._entries) < sum(len(scan.entries) for scan in self._scans)
            return changes

    def _not_seen_yet(self, run_id: str) -> RunEntry | None:
        found = super()._not_seen_yet(run_id)
        if found is not None:
            with self._lock:
                self._live = {**self._live, run_id: found}
        return found

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
        if len(self._entries) <= self._few or self.unread or self._twice or not self._table.is_current:
            return None
        try:
            if not all(self._is_known(field, live) for field in parse(asked.query).fields):
                return None  # Python says what was perhaps meant
            return work(live)
        except NotInSql:
            return None
        except SQLAlchemyError as fault:
            log.warning("the catalogue's database does not answer: %s", str(fault).partition("\n")[0])
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


def _selected(asked: Selection, live: dict[str, RunEntry], now: float) -> list[RunEntry]:
    query = parse(asked.query)
    return [entry for entry in live.values() if asked.admits(entry) and query.matches(entry, now)]
