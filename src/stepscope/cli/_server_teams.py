"""`stepscope server teams`: manage teams on the machine that has the database."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import database_options, people_of
from stepscope.cli._server_roles import give_role, role_options


@click.group(name="teams", invoke_without_command=True)
@database_options
@json_option
@click.pass_context
def command(ctx: click.Context, folder: Path, database: str | None, as_json: bool) -> None:
    """List teams with their users, or change them. A team's role is every member's.

    \b
    stepscope server teams --folder /srv/runs
    stepscope server teams set vision ada bo --folder /srv/runs      # these users, and no others
    stepscope server teams role vision writer --project segmentation --folder /srv/runs
    stepscope server teams remove vision --folder /srv/runs
    """
    if ctx.invoked_subcommand is not None:
        return
    from stepscope.people.roles import members, teams

    with people_of(folder, database) as people:
        found, roles = teams(people), members(people)
    rows = [
        {"name": name, "users": users, "roles": [f"{one.role} in {one.project}" for one in roles if one.team == name]}
        for name, users in found.items()
    ]
    if as_json:
        print_json({"teams": rows})
        return
    for row in rows:
        click.echo(f"{row['name']}: {', '.join(row['users']) or 'nobody'}; {', '.join(row['roles']) or 'no role'}")


@command.command(name="set")
@click.argument("name")
@click.argument("users", nargs=-1)
@database_options
def set_users(name: str, users: tuple[str, ...], folder: Path, database: str | None) -> None:
    """Create a team of these USERS, or replace its users."""
    from stepscope.people.audit import note
    from stepscope.people.roles import set_team

    with people_of(folder, database) as people:
        set_team(people, name, users)
        note(people, "command line", "teams/set", name, detail=", ".join(users))
    click.echo(f"{name}: {', '.join(users) or 'no users'}")


@command.command(name="role")
@role_options
def set_team_role(name: str, role: str, project: str, folder: Path, database: str | None) -> None:
    """Set a team's role in a project, or remove it."""
    give_role("team", name, role, project, folder, database)


@command.command(name="remove")
@click.argument("name")
@database_options
def remove(name: str, folder: Path, database: str | None) -> None:
    """Remove a team; its users lose the roles they had through it."""
    from stepscope.people.audit import note
    from stepscope.people.roles import remove_team

    with people_of(folder, database) as people:
        remove_team(people, name)
        note(people, "command line", "teams/set", name, detail="dissolved")
    click.echo(f"{name}: removed")
