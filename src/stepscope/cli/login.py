"""`stepscope login`: connect this machine to a team's server."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import click

from stepscope.cli._json import json_option, print_json


@click.command(name="login", short_help="Connect this machine to a server.")
@click.argument("url")
@click.option("--token-file", type=click.Path(path_type=Path), help="A file with a token; by default you are prompted.")
@click.option("--forget", is_flag=True, help="Remove the login from this machine, and revoke its token.")
@json_option
def command(url: str, token_file: Path | None, forget: bool, as_json: bool) -> None:
    """Connect this machine to the server at URL, for `stepscope sync`.

    URL is the server's address, or the whole link of an invitation. With the address alone you are prompted for a
    token, which you create on the server's People page. It is stored in a file that only you can read.

    \b
    stepscope login https://runs.example.org
    stepscope login 'https://runs.example.org/?token=...'      # an invitation
    stepscope login https://runs.example.org --forget
    """
    from stepscope.sync.remote import Remote
    from stepscope.sync.servers import Login, save_login

    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    if forget:
        _forget(server, as_json)
        return
    invitation = parse_qs(parts.query).get("token", [""])[-1]
    if invitation:
        with Remote(server, "") as remote:
            token = remote.login(invitation, socket.gethostname())
    else:
        token = _asked(token_file, server)
    with Remote(server, token) as remote:
        user = remote.me()
    path = save_login(Login(server, token, user))
    if as_json:
        print_json({"url": server, "user": user, "file": str(path)})
    else:
        click.echo(f"Logged in to {server} as {user}; `stepscope sync` sends runs there.")


def _asked(file: Path | None, server: str) -> str:
    from stepscope.errors import ConfigError
    from stepscope.files.opening import read_text

    if file is not None:
        token = read_text(file, 4096).strip()
    elif os.environ.get("STEPSCOPE_TOKEN"):
        token = os.environ["STEPSCOPE_TOKEN"]
    elif sys.stdin.isatty():
        click.echo(f"Create a token at {server}/#/people and paste it here; it is not shown.", err=True)
        token = str(click.prompt("Token", hide_input=True, err=True)).strip()
    else:
        token = sys.stdin.readline().strip()
    if not token:
        raise ConfigError("no token was given; type it, or give --token-file, or set STEPSCOPE_TOKEN")
    return token


def _forget(server: str, as_json: bool) -> None:
    from stepscope.errors import NotFound, StepscopeError
    from stepscope.sync.remote import Remote
    from stepscope.sync.servers import forget_login, login_for

    login = login_for(server)
    if login is None:
        raise NotFound(f"this machine is not logged in to {server}; check the address")
    revoked = True
    try:
        with Remote(server, login.token, timeout_s=10) as remote:
            remote.logout()
    except StepscopeError:
        revoked = False
    forget_login(server)
    if as_json:
        print_json({"url": server, "revoked": revoked})
    else:
        left = "" if revoked else "; its token could not be revoked there, so do that on the People page"
        click.echo(f"Logged out of {server}{left}.")
