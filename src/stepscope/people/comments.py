"""Comments on runs, and on a step of a chart. A user is mentioned by `@name`, and sees where until they say so."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import comments as table, mentions as mention_table, users
from stepscope.errors import NotFound, UsageError
from stepscope.people.caller import EVERY
from stepscope.people.roles import roles_in

__all__ = ["Comment", "add_comment", "comments_on", "mark_seen", "mentions_of", "remove_comment"]

LONGEST = 20_000
MOST = 1000
_MENTION = re.compile(r"(?<![\w@])@([A-Za-z0-9][A-Za-z0-9._@+-]{0,99})")


@dataclass(frozen=True)
class Comment:
    id: str
    project: str
    run: str
    chart: str | None
    step: int | None
    user: str
    """The author's name."""
    text: str
    created: float


def add_comment(
    database: Database,
    user: str,
    project: str,
    run: str,
    text: str,
    *,
    chart: str | None = None,
    step: int | None = None,
) -> str:
    """Keep a comment of the user with this id; returns its id. Only people who may see the project are mentioned."""
    text = text.strip()
    if not text or len(text) > LONGEST:
        raise UsageError(f"a comment has 1 to {LONGEST:,} characters; this one has {len(text):,}")
    if chart is not None and len(chart) > 1000:
        raise UsageError("the name of the chart is longer than 1,000 characters")
    if step is not None and not -(2**62) < step < 2**62:
        raise UsageError(f"{step} is not a step")
    id = secrets.token_hex(8)
    values = {"id": id, "project": project, "run": run, "chart": chart, "step": step, "user_id": user, "text": text}
    with database.writing() as connection:
        connection.execute(table.insert().values(**values, created=time.time()))
        for mentioned in _mentioned(connection, text, project):
            connection.execute(mention_table.insert().values(comment=id, user_id=mentioned))
    return id


def comments_on(database: Database, run: str) -> list[Comment]:
    """The comments on a run, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(_all().where(table.c.run == run).order_by(table.c.created, table.c.id).limit(MOST))
        return [_comment(row) for row in rows]


def remove_comment(database: Database, id: str, user: str | None = None) -> Comment:
    """Remove a comment; with `user` (an id), only if it is theirs."""
    with database.writing() as connection:
        which = table.c.id == id if user is None else sql.and_(table.c.id == id, table.c.user_id == user)
        row = connection.execute(_all().where(which)).first()
        if row is None:
            raise NotFound(f"there is no comment {id[:40]!r} that you could remove")
        connection.execute(table.delete().where(table.c.id == id))
    return _comment(row)


def mentions_of(database: Database, user: str) -> list[Comment]:
    """Comments that mention a user (by id) and that they have not marked as seen, the newest first."""
    find = _all().join(mention_table, mention_table.c.comment == table.c.id)
    find = find.where(mention_table.c.user_id == user, mention_table.c.seen.is_(None))
    with database.reading() as connection:
        return [_comment(row) for row in connection.execute(find.order_by(table.c.created.desc()).limit(MOST))]


def mark_seen(database: Database, user: str, comments: Collection[str]) -> None:
    ours = sql.and_(mention_table.c.user_id == user, mention_table.c.comment.in_(comments))
    with database.writing() as connection:
        connection.execute(mention_table.update().where(ours).values(seen=time.time()))


def _mentioned(connection: sql.Connection, text: str, project: str) -> list[str]:
    """The ids of users whom a text names and who may see the project."""
    names = {name for found in _MENTION.findall(text) for name in (found, found.rstrip(".@+-"))}
    if not names:
        return []
    find = sql.select(users.c.id, users.c.admin).where(users.c.name.in_(names), users.c.disabled.is_(None))
    found = []
    for id, admin in connection.execute(find).all():
        roles = roles_in(connection, id)
        if admin or project in roles or EVERY in roles:
            found.append(id)
    return found


def _all() -> sql.Select[Any]:
    return sql.select(
        table.c.id,
        table.c.project,
        table.c.run,
        table.c.chart,
        table.c.step,
        users.c.name.label("author"),
        table.c.text,
        table.c.created,
    ).join_from(table, users, users.c.id == table.c.user_id)


def _comment(row: sql.Row[Any]) -> Comment:
    return Comment(row.id, row.project, row.run, row.chart, row.step, row.author, row.text, row.created)
