"""`stepscope server`: the app for a team, and the place `stepscope sync` sends runs to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json_line

__all__ = ["command"]

TOKEN_FILE = ".server-token"


@click.command(name="server")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("stepscope-server"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 7007 or the next free one by default.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="The file that holds the token; FOLDER/.server-token by default.",
)
@click.option("--allow-host", multiple=True, help="A host name the server may be reached under (behind a proxy).")
@json_option
def command(
    folder: Path, host: str, port: int | None, token_file: Path | None, allow_host: tuple[str, ...], as_json: bool
) -> None:
    """Collect the runs of several machines in FOLDER and show them in the browser app.

    The token is made once and kept, so that clients go on after a restart. Anyone who has it can read, change and send
    runs. Put a proxy with TLS in front of a server that others reach over a network.

    \b
    stepscope server /srv/runs --host 0.0.0.0 --port 7007
    STEPSCOPE_TOKEN=... stepscope sync --to http://that-machine:7007    # on each machine that trains
    """
    from stepscope.errors import ConfigError
    from stepscope.runs.format.filesystem import make_store
    from stepscope.server.serve import serve

    token = os.environ.get("STEPSCOPE_TOKEN") if token_file is None else None
    try:
        make_store(folder)
    except OSError as fault:
        why = fault.strerror or str(fault)
        raise ConfigError(
            f"no runs can be kept in {str(folder)!r} ({why}); give a folder that can be written to"
        ) from None
    with _alone_in(folder):
        serve(
            [folder],
            host=host,
            port=port,
            token=token,
            token_file=token_file or (None if token else folder / TOKEN_FILE),
            allow_hosts=allow_host,
            compact=False,  # the copies stay as they are on the machines that sent them
            ingest=folder,
            say=partial(click.echo, err=True) if as_json else click.echo,
            on_address=_print_address if as_json else None,
        )


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Two processes that append to the same logs would mix their frames."""
    from stepscope.errors import Conflict
    from stepscope.importers.lock import ImportLock

    lock = ImportLock(folder, "sync")
    if not lock.take():
        raise Conflict(f"another server collects runs in {folder}; stop it first, or give another folder")
    try:
        yield
    finally:
        lock.release()


def _print_address(url: str, token: str | None) -> None:
    """For a program that starts the server: one line, as soon as it listens."""
    from stepscope.server.serve import address

    print_json_line({"url": url, "token": token, "address": address(url, token)})
