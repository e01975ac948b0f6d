"""Retention and quotas of projects, and quotas of users. `*` is for all that have no settings of their own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import policies as table
from stepscope.errors import UsageError
from stepscope.runs.retention.plan import KEEP_ALL, Policy

EVERY = "*"
Kind = Literal["project", "user"]


@dataclass(frozen=True)
class Settings:
    """What is set for a project or a user."""

    policy: Policy = KEEP_ALL
    quota_bytes: int | None = None


@dataclass(frozen=True)
class Policies:
    """All settings, as of when they were read."""

    projects: Mapping[str, Settings]
    users: Mapping[str, Settings]
    changed: float = 0.0

    def project(self, name: str) -> Settings:
        return self.projects.get(name) or self.projects.get(EVERY) or Settings()

    def user(self, name: str) -> Settings:
        return self.users.get(name) or self.users.get(EVERY) or Settings()


def read_policies(database: Database) -> Policies:
    found: dict[str, dict[str, Settings]] = {"project": {}, "user": {}}
    changed = 0.0
    with database.reading() as connection:
        for row in connection.execute(sql.select(table)):
            days = KEEP_ALL.trash_days if row.trash_days is None else row.trash_days
            policy = Policy(
                points_days=row.points_days,
                media_newest=row.media_newest,
                artifact_days=row.artifact_days,
                trash_days=days,
            )
            found[row.kind][row.name] = Settings(policy, row.quota_bytes)
            changed = max(changed, row.changed)
    return Policies(found["project"], found["user"], changed)


def trash_days(database: Database, project: str) -> float:
    """How long the deleted runs of a project can come back."""
    return read_policies(database).project(project).policy.trash_days


def set_settings(database: Database, kind: Kind, name: str, settings: Settings) -> None:
    """Replace all settings of a project or user."""
    _check(name, settings)
    policy = settings.policy
    values = {
        "points_days": policy.points_days,
        "media_newest": policy.media_newest,
        "artifact_days": policy.artifact_days,
        "trash_days": policy.trash_days,
        "quota_bytes": settings.quota_bytes,
        "changed": time.time(),
    }
    with database.writing() as connection:
        mine = (table.c.kind == kind, table.c.name == name)
        if not connection.execute(table.update().where(*mine).values(values)).rowcount:
            connection.execute(table.insert().values(kind=kind, name=name, **values))


def remove_settings(database: Database, kind: Kind, name: str) -> None:
    """Let the settings of all others count for it too."""
    with database.writing() as connection:
        connection.execute(table.delete().where(table.c.kind == kind, table.c.name == name))
        # The others look at when something was last changed.
        others = table.update().where(table.c.kind == kind, table.c.name == EVERY)
        connection.execute(others.values(changed=time.time()))


def _check(name: str, settings: Settings) -> None:
    if not name.strip() or len(name) > 500:
        raise UsageError("give the name of a project or user, or * for all that have no settings of their own")
    policy = settings.policy
    numbers = {
        "points_days": policy.points_days,
        "media_newest": policy.media_newest,
        "artifact_days": policy.artifact_days,
        "trash_days": policy.trash_days,
        "quota_bytes": settings.quota_bytes,
    }
    for what, value in numbers.items():
        if value is not None and not 0 <= value < 2**62:
            raise UsageError(f"{what.replace('_', ' ')} must be 0 or more, not {value}; leave it empty for no limit")
    if policy.media_newest is not None and policy.media_newest > 2**31 - 1:
        raise UsageError(f"media newest must be below 2**31, not {policy.media_newest}")
