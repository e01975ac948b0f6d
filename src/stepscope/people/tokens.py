"""Secrets that open a server: personal tokens, browsers that signed in, invitations, and view-only links.

Each is 256 random bits, shown once. The database has its SHA-256 only, so nobody who reads a backup can use it. Whether
it still holds is looked up at every request, so a revoked one is refused at once by every process.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import tokens as table, users
from stepscope.errors import NotFound, UsageError
from stepscope.people.caller import SCOPES, Caller, Scope
from stepscope.people.roles import roles_in

PREFIX = "stepscope_"
SESSION_S = 30 * 86400.0
INVITE_S = 3 * 86400.0
LONGEST_S = 10 * 366 * 86400.0
_NOTE_USE_S = 60.0
"""The time of the last use is written at most this often."""


@dataclass(frozen=True)
class Token:
    id: str
    kind: str
    user: str
    name: str
    scopes: frozenset[str]
    project: str | None
    run: str | None
    created: float
    expires: float | None
    used: float | None
    revoked: float | None


def make_token(
    database: Database,
    user: str,
    kind: str = "personal",
    *,
    name: str = "",
    scopes: Collection[Scope] = SCOPES,
    lifetime_s: float | None = None,
    project: str | None = None,
    run: str | None = None,
) -> tuple[Token, str]:
    """A token for the user with this id, and its secret, which is kept nowhere."""
    if lifetime_s is not None and not 0 < lifetime_s <= LONGEST_S:
        raise UsageError(f"a token cannot hold for {lifetime_s / 86400:g} days; give more than 0 and at most 3660")
    if len(name) > 200:
        raise UsageError(f"the name of a token has {len(name)} characters; at most 200 are kept")
    now, secret = time.time(), PREFIX + secrets.token_urlsafe(32)
    expires = None if lifetime_s is None else now + lifetime_s
    token = Token(secrets.token_hex(8), kind, user, name, frozenset(scopes), project, run, now, expires, None, None)
    with database.writing() as connection:
        _insert(connection, token, secret)
    return token, secret


def caller_of(database: Database, secret: str, kinds: Collection[str]) -> Caller | None:
    """Who shows this secret; None where it is unknown, has expired or was revoked, or the user is disabled."""
    now = time.time()
    with database.reading() as connection:
        row = connection.execute(_valid(secret, kinds, now)).first()
        if row is None:
            return None
        limited = row.kind == "link"
        roles = {} if limited else roles_in(connection, row.user_id)
    if row.used is None or now - row.used > _NOTE_USE_S:
        _note_use(database, row.id, now)
    if limited and row.project is not None:
        roles = {row.project: "viewer"}
    return Caller(
        user=row.user_id,
        name="guest" if limited else row.user_name,
        token=row.id,
        kind=row.kind,
        scopes=frozenset(row.scopes.split()),
        admin=row.admin and not limited,
        roles=roles,
        run=row.run,
    )


def what_is_wrong(database: Database, secret: str) -> str:
    """Why a secret opens nothing, for whoever shows it."""
    find = sql.select(table, users.c.name.label("user_name"), users.c.disabled)
    find = find.join(users, users.c.id == table.c.user_id).where(table.c.hash == hash_of(secret))
    with database.reading() as connection:
        row = connection.execute(find).first()
    if row is None:
        return "This server does not know this token; it may be mistyped, or be for another server."
    kind = {"link": "link", "invite": "invitation"}.get(row.kind, "token")
    if row.kind == "invite" and row.used is not None:
        return "This invitation was used already; it works once."
    if row.revoked is not None:
        return f"This {kind} was revoked on {_date(row.revoked)}."
    if row.expires is not None and row.expires <= time.time():
        return f"This {kind} expired on {_date(row.expires)}."
    if row.disabled is not None:
        return f"The user {row.user_name} was disabled on {_date(row.disabled)}."
    return f"This is {'an invitation' if kind == 'invitation' else f'a {kind}'}, and not a token for programs."


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def token_holds(database: Database, caller: Caller) -> bool:
    """Whether a caller's token can still be used, with the roles it had: asked by streams that it opened."""
    find = sql.select(users.c.admin).join_from(table, users, users.c.id == table.c.user_id)
    valid = (table.c.id == caller.token, table.c.revoked.is_(None), users.c.disabled.is_(None))
    with database.reading() as connection:
        row = connection.execute(find.where(*valid, _not_expired(time.time()))).first()
        if row is None or caller.kind == "link":
            return row is not None
        return row.admin == caller.admin and roles_in(connection, caller.user) == caller.roles


def redeem_invite(database: Database, secret: str, kind: str = "session", name: str = "") -> tuple[Token, str] | None:
    """Swap an invitation for a browser's session or a personal token. It works once, also for two who try at once."""
    now, fresh = time.time(), PREFIX + secrets.token_urlsafe(32)
    with database.writing() as connection:
        row = connection.execute(_valid(secret, ("invite",), now).with_for_update(of=table)).first()
        if row is None:
            return None
        expires = now + SESSION_S if kind == "session" else None
        scopes = frozenset(row.scopes.split())
        if kind == "personal":
            scopes -= {"admin"}  # a machine sends and reads; who needs more makes such a token on the People page
        made = Token(secrets.token_hex(8), kind, row.user_id, name, scopes, None, None, now, expires, now, None)
        connection.execute(table.update().where(table.c.id == row.id).values(used=now, revoked=now))
        _insert(connection, made, fresh)
    return made, fresh


def tokens_of(database: Database, user: str | None = None, kinds: Collection[str] = ("personal",)) -> list[Token]:
    """Tokens that can still be used, of one user (by id) or of all, the newest first."""
    now = time.time()
    find = sql.select(table).where(table.c.kind.in_(kinds), table.c.revoked.is_(None), _not_expired(now))
    if user is not None:
        find = find.where(table.c.user_id == user)
    with database.reading() as connection:
        return [_token(row) for row in connection.execute(find.order_by(table.c.created.desc(), table.c.id))]


def revoke_token(database: Database, id: str, user: str | None = None) -> Token:
    """End a token now; with `user` (an id), only if it is theirs."""
    which = table.c.id == id if user is None else sql.and_(table.c.id == id, table.c.user_id == user)
    with database.writing() as connection:
        row = connection.execute(sql.select(table).where(which, table.c.revoked.is_(None))).first()
        if row is None:
            raise NotFound(f"there is no token {id[:40]!r} that could be revoked")
        connection.execute(table.update().where(table.c.id == id).values(revoked=time.time()))
    return _token(row)


def _valid(secret: str, kinds: Collection[str], now: float) -> sql.Select[Any]:
    return (
        sql.select(table, users.c.name.label("user_name"), users.c.admin)
        .join(users, users.c.id == table.c.user_id)
        .where(
            table.c.hash == hash_of(secret),
            table.c.kind.in_(kinds),
            table.c.revoked.is_(None),
            users.c.disabled.is_(None),
            _not_expired(now),
        )
    )


def _not_expired(now: float) -> sql.ColumnElement[bool]:
    return sql.or_(table.c.expires.is_(None), table.c.expires > now)


def hash_of(secret: str) -> str:
    """What is kept of a secret. It has 256 random bits, so a slow hash would protect nothing more."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _insert(connection: sql.Connection, token: Token, secret: str) -> None:
    values = {**vars(token), "scopes": " ".join(sorted(token.scopes)), "hash": hash_of(secret)}
    values["user_id"] = values.pop("user")
    connection.execute(table.insert().values(values))


def _note_use(database: Database, id: str, now: float) -> None:
    with database.writing() as connection:
        connection.execute(table.update().where(table.c.id == id).values(used=now))


def _token(row: sql.Row[Any]) -> Token:
    return Token(
        id=row.id,
        kind=row.kind,
        user=row.user_id,
        name=row.name,
        scopes=frozenset(row.scopes.split()),
        project=row.project,
        run=row.run,
        created=row.created,
        expires=row.expires,
        used=row.used,
        revoked=row.revoked,
    )
