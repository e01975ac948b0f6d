"""Comments on runs, on a step of a run's chart, and on reports.

A user is mentioned by `@name`. The mention waits for them on the page until they have seen it; `tell` passes it on in
the same transaction, so that no mention is kept without its mail and no mail is sent without its comment.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import comments as table, mentions as mention_table, users
from stepscope.errors import NotFound, UsageError
from stepscope.people.caller import EVERY
from stepscope.people.roles import roles_in

LONGEST = 20_000
MOST = 1000
_MENTION = re.compile(r"(?<![\w@])@([A-Za-z0-9][A-Za-z0-9._@+-]{0,99})")


Tell = Callable[[sql.Connection, str, Collection[str]], object]
"""Is given the transaction, the comment's id and the ids of the users it mentions."""


@dataclass(frozen=True)
class Topic:
    """What a comment is about: a run, a step of its chart, or a report."""

    run: str | None = None
    report: str | None = None
    chart: str | None = None
    step: int | None = None

    @property
    def key(self) -> str:
        """Names the page: the same for all comments on a run."""
        return f"run:{self.run}" if self.run is not None else f"report:{self.report}"


@dataclass(frozen=True)
class Comment:
    id: str
    project: str
    topic: Topic
    user: str
    """The author's name."""
    text: str
    created: float


def add_comment(
    database: Database, user: str, project: str, topic: Topic, text: str, tell: Tell = lambda *_: None
) -> Comment:
    """Keep a comment of the user with this id. Only people who may see the project are mentioned."""
    text = text.strip()
    if not text or len(text) > LONGEST:
        raise UsageError(f"a comment has 1 to {LONGEST:,} characters; this one has {len(text):,}")
    if topic.chart is not None and len(topic.chart) > 1000:
        raise UsageError("the name of the chart is longer than 1,000 characters")
    if topic.step is not None and not -(2**62) < topic.step < 2**62:
        raise UsageError(f"{topic.step} is not a step")
    id = secrets.token_hex(8)
    values = {"id": id, "project": project, **asdict(topic), "user_id": user, "text": text}
    with database.writing() as connection:
        connection.execute(table.insert().values(**values, created=time.time()))
        mentioned = _mentioned(connection, text, project)
        for one in mentioned:
            connection.execute(mention_table.insert().values(comment=id, user_id=one))
        tell(connection, id, [one for one in mentioned if one != user])
    return comment(database, id)


def comment(database: Database, id: str) -> Comment:
    with database.reading() as connection:
        row = connection.execute(_all().where(table.c.id == id)).first()
    if row is None:
        raise NotFound(f"there is no comment {id[:40]!r}")
    return _comment(row)


def comments_on(database: Database, topic: Topic) -> list[Comment]:
    """The comments on a run with its charts, or on a report, the oldest first."""
    which = table.c.run == topic.run if topic.run is not None else table.c.report == topic.report
    with database.reading() as connection:
        rows = connection.execute(_all().where(which).order_by(table.c.created, table.c.id).limit(MOST))
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
        table.c.report,
        table.c.chart,
        table.c.step,
        users.c.name.label("author"),
        table.c.text,
        table.c.created,
    ).join_from(table, users, users.c.id == table.c.user_id)


def _comment(row: sql.Row[Any]) -> Comment:
    topic = Topic(row.run, row.report, row.chart, row.step)
    return Comment(row.id, row.project, topic, row.author, row.text, row.created)
