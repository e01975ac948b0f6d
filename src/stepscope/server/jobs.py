"""Work that any process of a server may do: a table of jobs, each taken by one process at a time.

    jobs.add("run", "01JCQ4...")
    while job := jobs.take("run"):
        try: work(job)
        except Exception as fault: jobs.failed(job, str(fault))
        else: jobs.done(job)

PostgreSQL hands each process another row (`FOR UPDATE SKIP LOCKED`); SQLite has its write lock. A job is reserved for
some minutes: when its process dies, another one gets it after that. So doing a job twice must do no harm.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite

from stepscope.database.engine import Database
from stepscope.database.tables import jobs as table

LEASE_S = 600.0
RETRY_S = (60.0, 300.0, 1800.0, 7200.0)
_LONGEST = 1000


@dataclass(frozen=True)
class Job:
    id: int
    kind: str
    subject: str
    tries: int
    error: str = ""
    """Why it failed the last time."""


class Jobs:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self.worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def add(self, kind: str, subjects: Iterable[str], connection: sql.Connection | None = None) -> None:
        """Have it done for each of these; one that waits already, or is being done, is not added again.

        With a connection, as part of its transaction.
        """
        rows = [
            {"kind": kind, "subject": one, "due": self._clock(), "tries": 0, "error": ""}
            for one in dict.fromkeys(subjects)
        ]
        if not rows:
            return
        insert = postgresql.insert if self._database.is_postgresql else sqlite.insert
        with self._database.writing() if connection is None else nullcontext(connection) as mine:
            mine.execute(insert(table).on_conflict_do_nothing(), rows)

    def take(self, *kinds: str) -> Job | None:
        """The next job of these kinds, for this process alone; None when there is nothing to do now."""
        now = self._clock()
        free = sql.or_(table.c.leased.is_(None), table.c.leased < now)
        columns = (table.c.id, table.c.kind, table.c.subject, table.c.tries, table.c.error)
        find = (
            sql.select(*columns)
            .where(table.c.due <= now, free, table.c.kind.in_(kinds))
            .order_by(table.c.due, table.c.id)
        )
        with self._database.reading() as connection:  # mostly there is none, and no need for a write lock
            if connection.execute(find.limit(1)).first() is None:
                return None
        with self._database.writing() as connection:
            row = connection.execute(find.limit(1).with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            mine = {"worker": self.worker, "leased": now + LEASE_S}
            connection.execute(table.update().where(table.c.id == row.id).values(mine))
        return Job(*row)

    def renew(self, job: Job) -> None:
        """Keep a job that takes long."""
        self._change(job, leased=self._clock() + LEASE_S)

    def done(self, job: Job) -> None:
        with self._database.writing() as connection:
            connection.execute(table.delete().where(table.c.id == job.id, table.c.worker == self.worker))

    def failed(self, job: Job, why: str) -> None:
        """Have it tried again later, each time after a longer rest."""
        rest = RETRY_S[min(job.tries, len(RETRY_S) - 1)]
        again = self._clock() + rest
        self._change(job, due=again, tries=job.tries + 1, error=why[:_LONGEST], worker=None, leased=None)

    def waiting(self) -> int:
        """How many there are."""
        with self._database.reading() as connection:
            return int(connection.scalar(sql.select(sql.func.count()).select_from(table)) or 0)

    def failing(self, most: int = 20) -> list[Job]:
        """Those that failed the last time."""
        columns = (table.c.id, table.c.kind, table.c.subject, table.c.tries, table.c.error)
        find = sql.select(*columns).where(table.c.tries > 0).order_by(table.c.tries.desc(), table.c.id).limit(most)
        with self._database.reading() as connection:
            return [Job(*row) for row in connection.execute(find)]

    def _change(self, job: Job, **values: object) -> None:
        with self._database.writing() as connection:
            mine = (table.c.id == job.id, table.c.worker == self.worker)
            connection.execute(table.update().where(*mine).values(values))
