"""`stepscope server tokens`: list, create and revoke tokens on the machine that has the database."""

from __future__ import annotations

from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._server_database import DAY_S, database_options, day, people_of


@click.group(name="tokens", invoke_without_command=True)
@database_options
@json_option
@click.pass_context
def command(ctx: click.Context, folder: Path, database: str | None, as_json: bool) -> None:
    """List personal tokens, make one for a machine, or revoke one.

    \b
    stepscope server tokens --folder /srv/runs
    stepscope server tokens make ada --name gpu-box --scope ingest --folder /srv/runs
    stepscope server tokens revoke 5f0c... --folder /srv/runs
    """
    if ctx.invoked_subcommand is not None:
        return
    from stepscope.people.tokens import tokens_of
    from stepscope.people.users import users as all_users

    with people_of(folder, database) as people:
        names = {user.id: user.name for user in all_users(people)}
        found = tokens_of(people)
    if as_json:
        rows = [{**vars(token), "user": names[token.user], "scopes": sorted(token.scopes)} for token in found]
        print_json({"tokens": rows})
        return
    for token in found:
        until = "does not expire" if token.expires is None else f"until {day(token.expires)}"
        scopes = ", ".join(sorted(token.scopes))
        click.echo(f"{token.id}  {names[token.user]}  {token.name}: {scopes}; {until}; last used {day(token.used)}")


@command.command(name="make")
@click.argument("user")
@click.option("--name", default="", help="The token's purpose.")
@click.option("--scope", "scopes", multiple=True, help="ingest, read, write or admin; all but admin by default.")
@click.option("--days", type=float, help="How long it is valid; until revoked by default.")
@database_options
@json_option
def make(
    user: str, name: str, scopes: tuple[str, ...], days: float | None, folder: Path, database: str | None, as_json: bool
) -> None:
    """Make a personal token and print it; only its hash is stored."""
    from stepscope.people.audit import note
    from stepscope.people.caller import checked_scopes
    from stepscope.people.tokens import make_token
    from stepscope.people.users import find_user

    allowed = checked_scopes(scopes or ("ingest", "read", "write"))
    with people_of(folder, database) as people:
        token, secret = make_token(
            people,
            find_user(people, user).id,
            name=name,
            scopes=allowed,
            lifetime_s=None if days is None else days * DAY_S,
        )
        note(people, "command line", "tokens/make", token.id, detail=f"{user}: {' '.join(sorted(allowed))}")
    if as_json:
        print_json({"id": token.id, "token": secret})
    else:
        click.echo(secret)


@command.command(name="revoke")
@click.argument("id")
@database_options
def revoke(id: str, folder: Path, database: str | None) -> None:
    """Revoke a token immediately."""
    from stepscope.people.audit import note
    from stepscope.people.tokens import revoke_token

    with people_of(folder, database) as people:
        revoke_token(people, id)
        note(people, "command line", "tokens/revoke", id)
    click.echo(f"{id}: revoked")
