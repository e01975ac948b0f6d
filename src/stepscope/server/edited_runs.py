"""The runs that people have just changed through the app, so that every process looks at them before it answers again.

    edits = EditedRuns(database)
    edits.add(["01JCQ4..."])        # in the process that changed them
    edits.new()                     # in all others, once

A notice would come a moment too late: who deletes a run asks for the list at once, and perhaps of another process.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

import sqlalchemy as sql
from sqlalchemy.exc import SQLAlchemyError

from stepscope.database.engine import Database
from stepscope.database.tables import edited_runs as table

log = logging.getLogger("stepscope.server")

KEPT = 2000
_LOCK = 0x57E95C09F
"""PostgreSQL's advisory lock for numbering: a row is never there after one with a higher number was read."""


class EditedRuns:
    """Not safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: int | None = None

    def add(self, runs: Collection[str]) -> None:
        """Tell the other processes. The change is made already: a database that is away does not undo it."""
        try:
            with self._database.writing() as connection:
                if self._database.is_postgresql:
                    connection.execute(sql.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
                last = _last(connection)
                rows = [{"number": last + at, "run": run} for at, run in enumerate(runs, 1)]
                connection.execute(table.insert(), rows)
                connection.execute(table.delete().where(table.c.number <= last + len(rows) - KEPT))
        except SQLAlchemyError as fault:
            log.warning("other server processes see a change later: %s", str(fault).partition("\n")[0])

    def new(self) -> list[str] | None:
        """What was changed since the last call, by whichever process; None for too much to name."""
        try:
            with self._database.reading() as connection:
                if self._seen is None:
                    self._seen = _last(connection)
                    return []
                asked = sql.select(table.c.number, table.c.run).where(table.c.number > self._seen)
                rows = connection.execute(asked.order_by(table.c.number)).all()
        except SQLAlchemyError:  # away: what is shown is what was seen last
            return []
        if not rows:
            return []
        missed = rows[0].number > self._seen + 1
        self._seen = rows[-1].number
        return None if missed else list(dict.fromkeys(row.run for row in rows))


def _last(connection: sql.Connection) -> int:
    return int(connection.execute(sql.select(sql.func.coalesce(sql.func.max(table.c.number), 0))).scalar_one())
