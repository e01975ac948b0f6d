"""The role of a user or a team in a project, which `stepscope server users` and `teams` set alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from stepscope.cli._server_database import database_options, people_of

F = TypeVar("F", bound=Callable[..., Any])


def role_options(function: F) -> F:
    """Who gets which role, in which project and on which server."""
    options = [
        click.argument("name"),
        click.argument("role", type=click.Choice(["viewer", "writer", "admin", "none"])),
        click.option("--project", default="*", show_default=True, help="The project of the role; * is every project."),
        database_options,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def give_role(
    kind: Literal["user", "team"], name: str, role: str, project: str, folder: Path, database: str | None
) -> None:
    """Set the role in the database, note it in the audit log, and print it."""
    from stepscope.people.audit import note
    from stepscope.people.caller import checked_role
    from stepscope.people.roles import set_role

    who = {kind: name}
    with people_of(folder, database) as people:
        set_role(people, project, None if role == "none" else checked_role(role), **who)
        label = name if kind == "user" else f"team {name}"
        note(people, "command line", "members/set", project, detail=f"{label}: {role}")
    click.echo(f"{name}: {role} in {project}")
