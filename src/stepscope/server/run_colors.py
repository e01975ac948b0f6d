"""The colors of a team's runs: in the database, so that they are the same for everybody and in every process.

A run gets its color when somebody first sees it, and keeps it. Nobody has to look at all runs for that: a run differs
from those around it in its project, whichever of them were seen first.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from itertools import groupby

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite

from stepscope.database.engine import Database
from stepscope.database.tables import run_colors as table
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.server.run_rows import sound
from stepscope.views.hues import APART, HUES, preferred

_AT_ONCE = 500
_FEW = 200
"""So many new runs are placed one by one; more of them with all that lies between."""
_KEPT = 200_000

Known = list[tuple[str, int]]
"""Runs of a project, sorted, with their hues."""


class RunColors:
    """`colors(entries)` is the hue of each by id. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, entries: Collection[RunEntry]) -> dict[str, int]:
        new = {entry.id: sound(entry.project) for entry in entries if entry.id not in self._kept}
        if new:
            found = self._read(list(new))
            missing = {run: project for run, project in new.items() if run not in found}
            if missing:
                self._place(missing)
                found |= self._read(list(missing))  # another process may have been first
            with self._lock:
                if len(self._kept) > _KEPT:
                    self._kept = {}
                self._kept |= found
        kept = self._kept
        return {entry.id: kept[entry.id] for entry in entries if entry.id in kept}

    def _read(self, runs: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        with self._database.reading() as connection:
            for start in range(0, len(runs), _AT_ONCE):
                asked = sql.select(table.c.run, table.c.hue).where(table.c.run.in_(runs[start : start + _AT_ONCE]))
                found.update((run, hue % HUES) for run, hue in connection.execute(asked))
        return found

    def _place(self, missing: dict[str, str]) -> None:
        by_project = sorted((project, run) for run, project in missing.items())
        with self._database.writing() as connection:
            for project, pairs in groupby(by_project, key=lambda pair: pair[0]):
                runs = [run for _, run in pairs]
                for some in [runs] if len(runs) > _FEW else [[run] for run in runs]:
                    around = _around(connection, project, some[0], some[-1])
                    rows = [{"run": run, "project": project, "hue": _placed(run, around)} for run in some]
                    self._insert(connection, rows)

    def _insert(self, connection: sql.Connection, rows: list[dict[str, object]]) -> None:
        made = postgresql.insert(table) if self._database.is_postgresql else sqlite.insert(table)
        connection.execute(made.on_conflict_do_nothing(), rows)


def _around(connection: sql.Connection, project: str, first: str, last: str) -> Known:
    """The runs of a project that have a hue, from seven before `first` to seven after `last`."""
    own = sql.select(table.c.run, table.c.hue).where(table.c.project == project)
    before = own.where(table.c.run < first).order_by(table.c.run.desc()).limit(APART)
    between = own.where(table.c.run >= first, table.c.run <= last)
    after = own.where(table.c.run > last).order_by(table.c.run).limit(APART)
    return sorted((run, hue) for asked in (before, between, after) for run, hue in connection.execute(asked))


def _placed(run: str, around: Known) -> int:
    """A hue for a run that as many as possible of its neighbors do not have, the nearest first; noted in `around`."""
    at = bisect_left(around, (run, -1))
    free: list[int] = []
    for reach in range(APART, -1, -1):
        taken = {hue for _, hue in around[max(0, at - reach) : at + reach]}
        free = [hue for hue in preferred(run) if hue not in taken]
        if free:
            break
    insort(around, (run, free[0]))
    return free[0]
