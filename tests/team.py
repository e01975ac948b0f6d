"""A team's server for tests: a database in its folder, and people in it who have a token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stepscope.database.engine import Database, default_url
from stepscope.database.tables import tokens
from stepscope.people.caller import SCOPES, Role, Scope
from stepscope.people.roles import set_role
from stepscope.people.setup import open_people
from stepscope.people.tokens import hash_of, make_token
from stepscope.people.users import add_user
from stepscope.server.serve import Running, running
from stepscope.server.settings import Settings

__all__ = ["TOKEN", "join", "people_in", "team_server"]

TOKEN = "correct-horse-battery-staple"
"""The token of `ada`, an admin."""


@contextmanager
def people_in(folder: Path, url: str | None = None) -> Iterator[Database]:
    """The database of the server with this folder, with one admin."""
    folder.mkdir(exist_ok=True)
    with open_people(url or default_url(folder)) as people:
        with people.reading() as connection:
            known = connection.execute(tokens.select().where(tokens.c.hash == hash_of(TOKEN))).first()
        if known is None:
            token, _ = make_token(people, add_user(people, "ada", admin=True).id)
            with people.writing() as connection:
                connection.execute(tokens.update().where(tokens.c.id == token.id).values(hash=hash_of(TOKEN)))
        yield people


def join(
    people: Database, name: str, role: Role | None = "writer", project: str = "*", scopes: tuple[Scope, ...] = SCOPES
) -> str:
    """A new user with a role; returns a token of theirs."""
    user = add_user(people, name)
    if role is not None:
        set_role(people, project, role, user=name)
    return make_token(people, user.id, scopes=scopes)[1]


@contextmanager
def team_server(folder: Path, port: int = 0, **settings: Any) -> Iterator[Running]:
    """A server that takes runs; `TOKEN` opens it."""
    with (
        people_in(folder) as people,
        running([folder], Settings(token=None, ingest=folder, people=people, **settings), port=port) as server,
    ):
        yield server
