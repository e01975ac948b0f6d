"""Users of a team server."""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError

from stepscope.database.engine import Database
from stepscope.database.tables import tokens as token_table, users as table
from stepscope.errors import Conflict, NotFound, UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_EMAIL = re.compile(r"[^\s@]{1,100}@[^\s@]{1,150}")


@dataclass(frozen=True)
class User:
    id: str
    name: str
    email: str | None
    admin: bool
    created: float
    disabled: float | None
    signed_in: float | None = None
    """When one of their tokens or browsers was last used."""


def add_user(
    database: Database, name: str, *, email: str | None = None, admin: bool = False, identity: str | None = None
) -> User:
    """A new user. They can do nothing until they have a role or are an admin."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name[:120]!r} is not a user name; use 1 to 100 letters, digits and . _ @ + -")
    user = User(secrets.token_hex(8), name, _checked_email(email), admin, time.time(), None)
    row = {
        "id": user.id,
        "name": name,
        "email": user.email,
        "admin": admin,
        "created": user.created,
        "identity": identity,
    }
    try:
        with database.writing() as connection:
            connection.execute(table.insert().values(row))
    except IntegrityError:
        raise Conflict(f"there is a user {name!r} already; choose another name") from None
    return user


def users(database: Database) -> list[User]:
    """All users, by name."""
    with database.reading() as connection:
        return [_user(row) for row in connection.execute(_with_use().order_by(table.c.name))]


def find_user(database: Database, name: str) -> User:
    with database.reading() as connection:
        row = connection.execute(_with_use().where(table.c.name == name)).first()
    if row is None:
        raise NotFound(f"there is no user {name!r}; `stepscope server users` lists them")
    return _user(row)


def user_of_identity(database: Database, identity: str) -> User | None:
    """The user who signs in at a provider under this identity."""
    with database.reading() as connection:
        row = connection.execute(_with_use().where(table.c.identity == identity)).first()
    return None if row is None else _user(row)


def change_user(
    database: Database,
    name: str,
    *,
    admin: bool | None = None,
    disabled: bool | None = None,
    email: str | None = None,
) -> User:
    """Make somebody an admin or not, shut them out, or set their mail address ("" for none).

    The last admin who can sign in stays one.
    """
    user = find_user(database, name)
    values: dict[str, Any] = {}
    if admin is not None:
        values["admin"] = admin
    if disabled is not None:
        values["disabled"] = time.time() if disabled else None
    if email is not None:
        values["email"] = _checked_email(email)
    if not values:
        return user
    with database.writing() as connection:
        connection.execute(table.update().where(table.c.id == user.id).values(values))
        left = sql.select(sql.func.count()).where(table.c.admin, table.c.disabled.is_(None))
        if values.keys() & {"admin", "disabled"} and connection.scalar(left) == 0:
            raise Conflict(f"{name!r} is the last admin; make somebody else an admin first")  # undoes the update
    return find_user(database, name)


def _checked_email(email: str | None) -> str | None:
    if email and not _EMAIL.fullmatch(email):
        raise UsageError(f"{email[:120]!r} is not an email address; expected for example ada@example.org")
    return email or None


def _with_use() -> sql.Select[Any]:
    used = sql.select(sql.func.max(token_table.c.used)).where(token_table.c.user_id == table.c.id).scalar_subquery()
    columns = (table.c.id, table.c.name, table.c.email, table.c.admin, table.c.created, table.c.disabled)
    return sql.select(*columns, used.label("signed_in"))


def _user(row: sql.Row[Any]) -> User:
    return User(row.id, row.name, row.email, row.admin, row.created, row.disabled, row.signed_in)
