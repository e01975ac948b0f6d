"""Who somebody is whom an identity provider vouches for: a user who came before, one an admin added, or a newcomer."""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import users as table
from stepscope.errors import Conflict, Forbidden
from stepscope.people.caller import EVERY, Role
from stepscope.people.roles import set_role
from stepscope.people.users import User, add_user, find_user, user_of_identity


class Identity(NamedTuple):
    key: str
    """Issuer and subject: the only thing that stays the same."""
    email: str | None
    """Only one that the provider has verified."""
    name: str


def user_for(database: Database, identity: Identity, role: Role | None) -> User:
    """Their user; a newcomer gets `role` in every project, or is refused where there is none to get."""
    user = user_of_identity(database, identity.key) or _added_before(database, identity)
    if user is None:
        if role is None:
            known = identity.email or identity.name
            raise Forbidden(f"{known[:200]!r} is not a user of this server; ask an admin to add you with this address")
        user = _newcomer(database, identity)
        set_role(database, EVERY, role, user=user.name)
    if user.disabled is not None:
        raise Forbidden(f"{user.name} has been disabled; ask an admin of this server")
    return user


def _added_before(database: Database, identity: Identity) -> User | None:
    """One whom an admin added with this mail address, and who has not come yet: from now on it is this identity."""
    if identity.email is None:
        return None
    free = sql.and_(sql.func.lower(table.c.email) == identity.email.lower(), table.c.identity.is_(None))
    with database.writing() as connection:
        names = connection.scalars(sql.select(table.c.name).where(free)).all()
        if len(names) != 1:  # two users with one address: nobody can tell which is meant
            return None
        connection.execute(table.update().where(table.c.name == names[0]).values(identity=identity.key))
    return find_user(database, names[0])


def _newcomer(database: Database, identity: Identity) -> User:
    name = re.sub(r"[^A-Za-z0-9._@+-]", "-", identity.name).lstrip("._@+-")[:80] or "user"
    try:
        return add_user(database, name, email=identity.email, identity=identity.key)
    except Conflict:  # somebody else has this name; names of providers prove nothing
        return add_user(database, f"{name}-{secrets.token_hex(3)}", email=identity.email, identity=identity.key)
