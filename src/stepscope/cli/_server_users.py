"""`stepscope server users`: manage users on the machine that has the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import DAY_S, database_options, day, people_of
from stepscope.cli._server_roles import give_role, role_options

if TYPE_CHECKING:
    from stepscope.database.engine import Database

_url_option = click.option(
    "--url", help="The server's address, for the link; by default the one it was last started under."
)


@click.group(name="users", invoke_without_command=True)
@database_options
@json_option
@click.pass_context
def command(ctx: click.Context, folder: Path, database: str | None, as_json: bool) -> None:
    """List the users of a server, or change them.

    \b
    stepscope server users --folder /srv/runs
    stepscope server users add ada --role writer --project vision --folder /srv/runs
    stepscope server users invite ada --folder /srv/runs         # a new sign-in link
    stepscope server users disable ada --folder /srv/runs
    """
    if ctx.invoked_subcommand is not None:
        return
    from stepscope.people.roles import members
    from stepscope.people.users import users as all_users

    with people_of(folder, database) as people:
        found, roles = all_users(people), members(people)
    rows: list[dict[str, Any]] = [
        {
            "name": user.name,
            "email": user.email,
            "admin": user.admin,
            "disabled": user.disabled is not None,
            "signed_in": user.signed_in,
            "roles": [f"{one.role} in {one.project}" for one in roles if one.user == user.name],
        }
        for user in found
    ]
    if as_json:
        print_json({"users": rows})
        return
    for row in rows:
        words = [word for word in ("admin", "disabled") if row[word]]
        held = ", ".join([*words, *row["roles"]])
        click.echo(f"{row['name']}: {held or 'no role'}; last seen {day(row['signed_in'])}")


@command.command(name="add")
@click.argument("name")
@click.option("--email", help="An email address, for notifications and for sign-in with a provider.")
@click.option("--admin", is_flag=True, help="Make the user an admin of the server.")
@click.option("--role", type=click.Choice(["viewer", "writer", "admin"]), default="writer", show_default=True)
@click.option("--project", default="*", show_default=True, help="The project of the role; * is every project.")
@_url_option
@database_options
@json_option
def add(
    name: str,
    email: str | None,
    admin: bool,
    role: str,
    project: str,
    url: str | None,
    folder: Path,
    database: str | None,
    as_json: bool,
) -> None:
    """Add a user and print the link for their first visit."""
    from stepscope.people.audit import note
    from stepscope.people.caller import checked_role
    from stepscope.people.roles import set_role
    from stepscope.people.users import add_user

    with people_of(folder, database) as people:
        add_user(people, name, email=email, admin=admin)
        set_role(people, project, checked_role(role), user=name)
        note(people, "command line", "people/add", name, detail=f"{role} in {project}")
        _print_invitation(people, name, url, as_json)


@command.command(name="invite")
@click.argument("name")
@_url_option
@database_options
@json_option
def invite(name: str, url: str | None, folder: Path, database: str | None, as_json: bool) -> None:
    """Print a link that signs a user in once."""
    with people_of(folder, database) as people:
        _print_invitation(people, name, url, as_json)


@command.command(name="role")
@role_options
def set_user_role(name: str, role: str, project: str, folder: Path, database: str | None) -> None:
    """Set a user's role in a project, or remove it."""
    give_role("user", name, role, project, folder, database)


@command.command(name="email")
@click.argument("name")
@click.argument("address")
@database_options
def set_email(name: str, address: str, folder: Path, database: str | None) -> None:
    """Set the address for notifications and sign-in with a provider; '' removes it."""
    from stepscope.people.audit import note
    from stepscope.people.users import change_user

    with people_of(folder, database) as people:
        change_user(people, name, email=address)
        note(people, "command line", "people/change", name, detail=f"email={address}")
    click.echo(f"{name}: {address or 'no email address'}")


def _disabling(word: str, disabled: bool) -> click.Command:
    @command.command(name=word)
    @click.argument("name")
    @database_options
    def change(name: str, folder: Path, database: str | None) -> None:
        from stepscope.people.audit import note
        from stepscope.people.users import change_user

        with people_of(folder, database) as people:
            change_user(people, name, disabled=disabled)
            note(people, "command line", "people/change", name, detail=f"{word}d")
        click.echo(f"{name}: {word}d")

    change.help = "Disable a user, with all their tokens." if disabled else "Enable a disabled user again."
    return change


_disabling("disable", True)
_disabling("enable", False)


def _print_invitation(people: Database, name: str, url: str | None, as_json: bool) -> None:
    from stepscope.people.address import address_of
    from stepscope.people.tokens import INVITE_S, make_token
    from stepscope.people.users import find_user

    _, secret = make_token(people, find_user(people, name).id, "invite", lifetime_s=INVITE_S)
    place = url or address_of(people) or "http://127.0.0.1:7007"
    link = f"{place.rstrip('/')}/?token={secret}"
    if as_json:
        print_json({"name": name, "link": link})
    else:
        click.echo(f"Send this link to {name}; it works once, within {INVITE_S / DAY_S:g} days:\n{link}")
