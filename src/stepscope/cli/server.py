"""`stepscope server`: the app for a team, and the target of `stepscope sync`."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json_line
from stepscope.cli._server_database import database_option, people_of

if TYPE_CHECKING:
    from stepscope.server.mail import Mail
    from stepscope.server.oidc import Oidc

OBJECTS_FILE = ".objects-place"
"""Records where a folder's runs are stored, so that a server started without --objects still finds them."""
_OTHERS = {
    name: f"_server_{name}"
    for name in ("doctor", "restore", "retention", "storage", "teams", "tokens", "users", "verify")
}


class _Server(click.Group):
    """`stepscope server FOLDER` starts a server; a first word from the list is a subcommand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["start", *sorted(_OTHERS)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name == "start":
            return start
        return import_module(f"stepscope.cli.{_OTHERS[name]}").command if name in _OTHERS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.list_commands(ctx) and args[0] not in ("-h", "--help")):
            args = ["start", *args]
        return super().parse_args(ctx, args)


@click.group(name="server", cls=_Server, short_help="Collect and show the runs of a team.")
def command() -> None:
    """Collect the runs of several machines in a folder and show them in the browser app.

    \b
    stepscope server /srv/runs --host 0.0.0.0 --port 7007
    stepscope server /srv/runs --objects s3://team-runs/stepscope     # finished runs move to a bucket
    stepscope server users add ada --folder /srv/runs
    stepscope server retention --folder /srv/runs --project vision --points-days 90
    stepscope server verify /srv/runs
    """


@click.command(name="start")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("stepscope-server"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 7007 or the next free one by default.")
@database_option
@click.option("--allow-host", multiple=True, help="A host name the server may be reached under (behind a proxy).")
@click.option("--objects", metavar="PLACE", help="Where finished runs are stored: s3://bucket/prefix, or a folder.")
@click.option("--oidc", metavar="URL", help="The OpenID provider for sign-in; its secret: $STEPSCOPE_OIDC_SECRET.")
@click.option("--oidc-client", metavar="ID", help="This server's client id at the provider.")
@click.option(
    "--oidc-role",
    type=click.Choice(["viewer", "writer", "admin"]),
    help="The role of new users in every project; without it, only people added by an admin can sign in.",
)
@click.option("--public-url", metavar="URL", help="The address that browsers use, when behind a proxy.")
@click.option(
    "--mail",
    metavar="URL",
    envvar="STEPSCOPE_MAIL",
    help="Mail people about mentions: smtp://USER@HOST:587?from=ADDRESS; the password: $STEPSCOPE_SMTP_PASSWORD.",
)
@click.option(
    "--webhook", metavar="URL", envvar="STEPSCOPE_WEBHOOK", help="Send alerts and mentions there; prefer the variable."
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes that share the address."
)
@click.option("--listener", type=int, hidden=True, help="The socket of a worker's address.")
@click.option("--meters", type=click.Path(path_type=Path), hidden=True, help="Where a worker notes its numbers.")
@click.option("--log", "log_format", type=click.Choice(["text", "json"]), help="Print a log line for each request.")
@json_option
def start(
    folder: Path,
    host: str,
    port: int | None,
    database: str | None,
    allow_host: tuple[str, ...],
    objects: str | None,
    oidc: str | None,
    oidc_client: str | None,
    oidc_role: str | None,
    public_url: str | None,
    mail: str | None,
    webhook: str | None,
    workers: int,
    listener: int | None,
    meters: Path | None,
    log_format: str | None,
    as_json: bool,
) -> None:
    """Start a server: collect runs in FOLDER, and show them.

    The first start prints a link that signs you in as an admin; invite others on the People page. Put a TLS proxy in
    front of a server that is reachable over a network. With --workers, or started on several machines that share the
    folder and a PostgreSQL database, several processes serve one address.

    \b
    stepscope server /srv/runs --host 0.0.0.0 --port 7007
    stepscope login http://that-machine:7007            # on each machine that trains, once
    stepscope sync --follow
    """
    from stepscope.errors import ConfigError
    from stepscope.runs.format.filesystem import make_store
    from stepscope.server.logs import log_to_stderr
    from stepscope.server.serve import serve

    try:
        make_store(folder)
    except OSError as fault:
        why = fault.strerror or str(fault)
        raise ConfigError(f"cannot store runs in {str(folder)!r} ({why}); give a writable folder") from None
    log_to_stderr("json" if log_format == "json" else "text", access=log_format is not None)
    place = objects_place(folder, objects)
    if place is not None:
        from stepscope.sync.object_store import open_objects
    with _alone_in(folder), people_of(folder, database, new=True) as people:
        serve(
            [folder],
            host=host,
            port=port,
            allow_hosts=allow_host,
            ingest=folder,
            people=people,
            mail=_mail(mail),
            webhook=webhook,
            public_url=public_url or "",
            listener=socket.socket(fileno=listener) if listener is not None else None,
            meters=meters,
            workers=sys.argv[1:],
            count=1 if listener is not None else workers,
            oidc=_oidc(oidc, oidc_client, oidc_role, public_url),
            objects=open_objects(place) if place is not None else None,
            say=partial(click.echo, err=True) if as_json else click.echo,
            on_address=_print_address if as_json else None,
        )


def _mail(url: str | None) -> Mail | None:
    if not url:
        return None
    from stepscope.server.mail import Mail

    return Mail(url, os.environ.get("STEPSCOPE_SMTP_PASSWORD"))


def _oidc(issuer: str | None, client: str | None, role: str | None, public_url: str | None) -> Oidc | None:
    from stepscope.errors import UsageError
    from stepscope.people.caller import checked_role

    if issuer is None:
        return None
    if client is None:
        raise UsageError("--oidc needs --oidc-client, this server's client id at the provider")
    from stepscope.server.oidc import Oidc

    secret = os.environ.get("STEPSCOPE_OIDC_SECRET", "")
    return Oidc(issuer, client, secret, None if role is None else checked_role(role), public_url).checked()


def objects_place(folder: Path, given: str | None) -> str | None:
    """Where a folder's runs are stored: as given, and recorded for next time; else as recorded."""
    from stepscope.errors import Conflict
    from stepscope.files.opening import read_text
    from stepscope.runs.format.layout import write_file

    file = folder / OBJECTS_FILE
    known = read_text(file, 4096, within=folder).strip() if file.exists() else None
    if given is None:
        return known
    if known is not None and known != given:
        raise Conflict(
            f"runs of {folder} are in {known}, but {given} was given. Move the objects there "
            f"yourself, then remove {file}; or omit --objects"
        )
    if known is None:
        write_file(file, f"{given}\n".encode())
    return given


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Without file locks, two processes appending to the same logs would mix their frames."""
    from stepscope.errors import Conflict
    from stepscope.importers.lock import ImportLock
    from stepscope.sync.locks import between_processes

    lock = ImportLock(folder, "sync")
    if not between_processes() and not lock.take():
        raise Conflict(f"another server collects runs in {folder}; stop it first, or give another folder")
    try:
        yield
    finally:
        lock.release()


def _print_address(url: str, token: str | None) -> None:
    """Print one line, for a program that starts the server, as soon as it listens."""
    from stepscope.server.serve import address

    print_json_line({"url": url, "token": token, "address": address(url, token)})
