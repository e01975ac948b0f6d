"""Roles of users and teams in projects."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import members as table, team_members, teams as team_table, users
from stepscope.errors import NotFound, UsageError
from stepscope.people.caller import ROLES, Role


@dataclass(frozen=True)
class Member:
    """A user or a team with a role in a project."""

    project: str
    user: str | None
    team: str | None
    role: Role


def roles_in(connection: sql.Connection, user: str) -> dict[str, Role]:
    """The roles of the user with this id: their own and those of their teams, the highest per project."""
    own_teams = sql.select(team_members.c.team).where(team_members.c.user_id == user)
    find = sql.select(table.c.project, table.c.role).where(
        sql.or_(table.c.user_id == user, table.c.team.in_(own_teams))
    )
    found: dict[str, Role] = {}
    for project, role in connection.execute(find):
        held = found.get(project)
        if held is None or ROLES.index(role) > ROLES.index(held):
            found[project] = role
    return found


def members(database: Database, project: str | None = None) -> list[Member]:
    """Who has a role in a project, or in any."""
    find = sql.select(table.c.project, users.c.name, table.c.team, table.c.role)
    find = find.select_from(table.outerjoin(users, users.c.id == table.c.user_id))
    if project is not None:
        find = find.where(table.c.project == project)
    with database.reading() as connection:
        found = [Member(*row) for row in connection.execute(find)]
    return sorted(found, key=lambda one: (one.project, one.team or "", one.user or ""))


def set_role(
    database: Database, project: str, role: Role | None, *, user: str | None = None, team: str | None = None
) -> None:
    """Give a user (by name) or a team a role in a project, or none."""
    if not project or len(project) > 500:
        raise UsageError("give the name of a project, or * for every project")
    if (user is None) == (team is None):
        raise UsageError("give either a user or a team")
    with database.writing() as connection:
        holder = _user_id(connection, user) if user is not None else _team(connection, str(team))
        column = table.c.user_id if user is not None else table.c.team
        connection.execute(table.delete().where(table.c.project == project, column == holder))
        if role is not None:
            row = {"id": secrets.token_hex(8), "project": project, "role": role, column.name: holder}
            connection.execute(table.insert().values(row))


def teams(database: Database) -> dict[str, list[str]]:
    """Every team with the names of its users."""
    find = sql.select(team_table.c.name, users.c.name).select_from(
        team_table.outerjoin(team_members, team_members.c.team == team_table.c.name).outerjoin(
            users, users.c.id == team_members.c.user_id
        )
    )
    found: dict[str, list[str]] = {}
    with database.reading() as connection:
        for team, user in connection.execute(find.order_by(team_table.c.name, users.c.name)):
            found.setdefault(team, []).extend([user] if user is not None else [])
    return found


def set_team(database: Database, team: str, names: Collection[str]) -> None:
    """Make a team of these users, or change who is in it."""
    if not team.strip() or len(team) > 100:
        raise UsageError(f"the name of a team has 1 to 100 characters; this one has {len(team.strip())}")
    with database.writing() as connection:
        if connection.scalar(sql.select(team_table.c.name).where(team_table.c.name == team)) is None:
            connection.execute(team_table.insert().values(name=team, created=time.time()))
        ids = [_user_id(connection, name) for name in dict.fromkeys(names)]
        connection.execute(team_members.delete().where(team_members.c.team == team))
        for id in ids:
            connection.execute(team_members.insert().values(team=team, user_id=id))


def remove_team(database: Database, team: str) -> None:
    """Its members lose the roles that they had through it."""
    with database.writing() as connection:
        _team(connection, team)
        connection.execute(team_table.delete().where(team_table.c.name == team))


def _user_id(connection: sql.Connection, name: str) -> str:
    found = connection.scalar(sql.select(users.c.id).where(users.c.name == name))
    if found is None:
        raise NotFound(f"there is no user {name!r}; the People page and `stepscope server users` list them")
    return str(found)


def _team(connection: sql.Connection, name: str) -> str:
    if connection.scalar(sql.select(team_table.c.name).where(team_table.c.name == name)) is None:
        raise NotFound(f"there is no team {name!r}; the People page and `stepscope server teams` list them")
    return name
