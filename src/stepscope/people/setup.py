"""The database of a server, ready to use, and the first admin of a new one."""

from __future__ import annotations

import getpass
import re

import sqlalchemy as sql

from stepscope.database.engine import Database, open_database
from stepscope.database.migrate import migrate
from stepscope.database.tables import tokens, users
from stepscope.people.tokens import INVITE_S, make_token
from stepscope.people.users import add_user, find_user


def open_people(url: str) -> Database:
    """The database with this address, with its tables up to date."""
    database = open_database(url)
    try:
        migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def first_invitation(database: Database) -> tuple[str, str] | None:
    """The name of the first admin and an invitation for them, until an admin has signed in.

    Each start makes a new one, so a lost link does no harm; those of earlier starts end.
    """
    with database.writing() as connection:
        found = sql.select(users.c.id, users.c.name).where(users.c.admin).order_by(users.c.created)
        admins = connection.execute(found).all()
        signed_in = sql.select(tokens.c.id).join(users, users.c.id == tokens.c.user_id)
        signed_in = signed_in.where(users.c.admin, tokens.c.kind.in_(("personal", "session")))
        if connection.execute(signed_in.limit(1)).first() is not None:
            return None
        if admins:  # the invitations of others stay
            connection.execute(tokens.delete().where(tokens.c.kind == "invite", tokens.c.user_id == admins[0].id))
    name = admins[0].name if admins else add_user(database, _own_name(), admin=True).name
    _, secret = make_token(database, find_user(database, name).id, "invite", lifetime_s=INVITE_S)
    return name, secret


def _own_name() -> str:
    """Who starts the server."""
    try:
        name = re.sub(r"[^A-Za-z0-9._@+-]", "", getpass.getuser()).lstrip("._@+-")
    except (OSError, KeyError, ImportError):  # a container's user has no name
        name = ""
    return name[:100] or "admin"
