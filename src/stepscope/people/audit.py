"""The audit log: who changed what, when, and from where. Entries are only ever added."""

from __future__ import annotations

import time
from dataclasses import dataclass

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import audit as table

_LONGEST = 1000


@dataclass(frozen=True)
class AuditEntry:
    id: int
    at: float
    user: str
    action: str
    subject: str
    detail: str
    address: str


def note(database: Database, user: str, action: str, subject: str = "", *, detail: str = "", address: str = "") -> None:
    """Write down what a user (by name) did: `note(database, "ada", "runs/delete", "01JCQ4...")`."""
    values = {"user_name": user, "action": action, "subject": subject[:_LONGEST], "detail": detail[:_LONGEST]}
    with database.writing() as connection:
        connection.execute(table.insert().values(**values, at=time.time(), address=address))


def audit_log(database: Database, *, before: int | None = None, most: int = 200) -> list[AuditEntry]:
    """The newest entries, or those before an entry."""
    columns = (table.c.id, table.c.at, table.c.user_name, table.c.action)
    find = sql.select(*columns, table.c.subject, table.c.detail, table.c.address).order_by(table.c.id.desc())
    if before is not None:
        find = find.where(table.c.id < before)
    with database.reading() as connection:
        return [AuditEntry(*row) for row in connection.execute(find.limit(most))]
